"""What the documents of reports hold; made by `tests.reports.expect`."""

RELEASE = {
    "version": 1,
    "kind": "release",
    "audience": "internal",
    "title": "Release of stays.csv",
    "decision": {
        "what": [
            "19 of 19 records of stays.csv are released in release.csv; 0 are suppressed.",
            "The release was read again and verified after it was written. It keeps its promise.",
        ],
        "recipient": "The research network",
        "purpose": "A study of stays",
        "promises": [
            {
                "model": "k-anonymity k=3",
                "words": "Every record looks like at least 2 other records in all recoded columns.",
                "worst": "4",
                "holds": True,
            },
            {
                "model": "l-diversity l=2, kind=distinct, column=ill",
                "words": "Among those who look alike there are at least 2 "
                "different values of 'ill'.",
                "worst": "2",
                "holds": True,
            },
        ],
        "holds": True,
        "numbers": [
            {
                "name": "risk",
                "text": "25 %",
                "sentence": "for the record that is easiest to find. Records are "
                "counted, not people",
                "share": 0.25,
                "limit": 0.1,
            },
            {
                "name": "loss",
                "text": "36.38 %",
                "sentence": "of the information of the recoded columns (NCP)",
                "share": 0.36384439359267734,
                "limit": None,
            },
            {
                "name": "records",
                "text": "19",
                "sentence": "released, 100 % of all",
                "share": 1.0,
                "limit": None,
            },
        ],
        "profile": {
            "profile": {
                "name": "us-schools",
                "title": "Group size of most US states for school data",
                "max_risk": None,
                "measure": "maximum",
                "smallest_class": 10,
                "model": "size of the smallest class; of persons where a person column is named",
                "source": "National Center for Education Statistics, "
                "SLDS Technical Brief 3 (NCES 2011-603)",
                "address": "https://nces.ed.gov/pubs2011/2011603.pdf",
                "date": "2010-12-01",
                "says": "The brief of December 2010 reports what states "
                "do and sets no figure of its own: minimum group "
                "sizes from 5 to 30 students, most often 10 (39 "
                "states). Take your own state's rule where it "
                "has one.",
            },
            "passed": False,
            "failures": [
                "people have several records, and records were counted; "
                "name the column that says who they are about "
                "(--person)",
                "the smallest class has 4 records, where 10 are asked for",
            ],
        },
        "warnings": [
            "k counts records, not people: 'who' repeats (17 values on 19 "
            "records), and 0 classes (0 records) belong to fewer than 3 of its "
            "values, 0 to a single one"
        ],
    },
    "columns": [
        {
            "name": "age",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized: each class gets what covers its values",
            "loss": 0.46453089244851253,
            "bars": {
                "names": [
                    "20 – 29",
                    "30 – 39",
                    "40 – 49",
                    "50 – 59",
                    "60 – 69",
                    "70 – 79",
                    "80 – 89",
                    "90 – 99",
                ],
                "before": [6.0, 0.0, 6.0, 0.0, 6.0, 0.0, 0.0, 1.0],
                "after": [
                    3.809524,
                    4.761905,
                    2.883117,
                    3.136364,
                    2.136364,
                    1.136364,
                    1.136364,
                    0.0,
                ],
                "unit": "record",
                "note": "After: each released label is spread evenly over the values "
                "that it covers.",
            },
        },
        {
            "name": "ward",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized: each class gets what covers its values",
            "loss": 0.2631578947368421,
            "bars": {
                "names": ["a1", "a2", "b1"],
                "before": [9.0, 9.0, 1.0],
                "after": [10.666667, 6.666667, 1.666667],
                "unit": "record",
                "note": "After: each released label is spread evenly over the values "
                "that it covers.",
            },
        },
        {
            "name": "ill",
            "role": "sensitive",
            "why": "what nobody should learn of a person",
            "technique": "released as it is",
            "loss": None,
            "bars": None,
        },
        {
            "name": "who",
            "role": "identifying",
            "why": "says by itself who a person is",
            "technique": "removed",
            "loss": None,
            "bars": None,
        },
    ],
    "risk": {
        "attackers": [
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "maximum",
                "before": 1.0,
                "after": 0.25,
                "limit": 0.1,
            },
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "average",
                "before": 1.0,
                "after": 0.21052631578947367,
                "limit": None,
            },
            {
                "name": "marketer",
                "knows": "wants to find as many people as possible, not one",
                "measure": "average",
                "before": 1.0,
                "after": 0.21052631578947367,
                "limit": None,
            },
        ],
        "sizes": {
            "names": [
                "1",
                "2",
                "3 to 4",
                "5 to 9",
                "10 to 19",
                "20 to 49",
                "50 to 99",
                "100 and more",
            ],
            "before": [19.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "after": [0.0, 0.0, 4.0, 15.0, 0.0, 0.0, 0.0, 0.0],
            "unit": "record",
            "note": "Records by the size of their class.",
        },
        "attacks": [],
        "questions": [
            {
                "question": "singling out",
                "asks": "Can somebody isolate the records of one person?",
                "answer": "In the recoded columns nobody is alone in a class; the "
                "smallest class has 4 records. No attack of this kind was "
                "carried out.",
            },
            {
                "question": "linkability",
                "asks": "Can somebody link records of one person, here and elsewhere?",
                "answer": "Somebody who knows everybody's quasi-identifiers points "
                "out 21.05 % of the records rightly on average, and anybody "
                "with at most 25 %. No attack of this kind was carried "
                "out.",
            },
            {
                "question": "inference",
                "asks": "Can somebody work out a person's sensitive value?",
                "answer": "The spread of sensitive values within classes is promised: "
                "l-diversity l=2, kind=distinct, column=ill. No attack of "
                "this kind was carried out.",
            },
        ],
        "not_protected": [
            "Columns that are released as they are (ill): whoever knows one of "
            "their values of a person may tell apart those who look alike.",
            "Persons: they have several records, and records were counted. See the warnings.",
            "That somebody is in the table at all: the release does not hide it.",
            "Several releases of the same people, laid over each other: ask `shoal compose`.",
            "What is learned about groups: a study of the release may say "
            "something about everybody who is like them.",
        ],
        "unit": "record",
        "columns": {},
    },
    "utility": {
        "measures": [
            {
                "name": "il",
                "text": "13.8261",
                "sentence": "information lost, summed over records and columns; 0 is nothing",
            },
            {
                "name": "ncp",
                "text": "0.363844",
                "sentence": "share of the information of the recoded columns that "
                "is lost; 0 is nothing, 1 is all",
            },
            {
                "name": "dm",
                "text": "91",
                "sentence": "sum of the squared class sizes: how many records each "
                "record can be mistaken for",
            },
            {
                "name": "cm",
                "text": "0.368421",
                "sentence": "share of records whose target value is not their class's commonest",
            },
            {"name": "aecs", "text": "4.75", "sentence": "records of an average class"},
            {
                "name": "class-entropy",
                "text": "1.99377",
                "sentence": "how finely classes still tell records apart, in bits; "
                "larger is better",
            },
            {
                "name": "height-utility",
                "text": "1.27231",
                "sentence": "levels of the hierarchies that are left, summed over "
                "columns; larger is better",
            },
            {
                "name": "precision",
                "text": "0.636156",
                "sentence": "share of the hierarchies' levels that is left; 1 is nothing lost",
            },
            {
                "name": "loss",
                "text": "0.379175",
                "sentence": "share of the original values that each released cell "
                "covers; 0 is nothing lost",
            },
            {
                "name": "usefulness",
                "text": "0.800725",
                "sentence": "how varied the values of a class are; smaller is better for analysis",
            },
            {
                "name": "protection",
                "text": "1.5",
                "sentence": "how little the sensitive values of a class vary; "
                "smaller protects better",
            },
            {
                "name": "sse_loss",
                "text": "not known",
                "sentence": "percentage of the variation that is lost by replacing "
                "values by their centroid",
            },
        ],
        "losses": {"age": 0.46453089244851253, "ward": 0.2631578947368421},
        "associations": {
            "columns": ["age", "ward"],
            "before": [[1.0, 0.707107], [0.707107, 1.0]],
            "after": [[1.0, 0.329546], [0.329546, 1.0]],
        },
        "fidelity": [],
        "models": [],
        "models_note": "",
    },
    "making": {
        "facts": {"method": "mondrian", "classes": "4, the smallest has 4 records", "seed": "0"},
        "hashes": {
            "input": "0000000000000000000000000000000000000000000000000000000000000000",
            "release": "1111111111111111111111111111111111111111111111111111111111111111",
        },
        "versions": {"shoal": "1.2.3"},
        "waivers": [],
        "notices": [],
        "hierarchies": {"ward": "*\n├── a\n│   ├── a1\n│   └── a2\n└── b\n    ├── b1\n    └── b2"},
        "request": {
            "job": "release",
            "table": "a table in memory",
            "schema": {
                "version": 1,
                "columns": {
                    "age": {"role": "quasi", "kind": "numeric"},
                    "ward": {
                        "role": "quasi",
                        "kind": "categorical",
                        "hierarchy": "(left out: values of the data)",
                    },
                    "ill": {"role": "sensitive"},
                    "who": {"role": "identifying"},
                },
                "others": "fault",
                "privacy": [
                    {"model": "k-anonymity", "k": 3},
                    {"model": "l-diversity", "l": 2, "kind": "distinct"},
                ],
                "suppression_limit": 0.1,
            },
            "method": {"name": "mondrian"},
            "output": {"suppressed": "remove"},
            "checks": {"pictures": True},
        },
        "by": "The data office",
        "date": "2026-01-31",
        "checklist": [],
    },
}

RELEASE_OUTSIDE = {
    "version": 1,
    "kind": "release",
    "audience": "external",
    "title": "Release of stays.csv",
    "decision": {
        "what": [
            "19 records of stays.csv are released in release.csv; 0 are suppressed.",
            "The release was read again and verified after it was written. It keeps its promise.",
        ],
        "recipient": "The research network",
        "purpose": "A study of stays",
        "promises": [
            {
                "model": "k-anonymity k=3",
                "words": "Every record looks like at least 2 other records in all recoded columns.",
                "worst": "–",
                "holds": True,
            },
            {
                "model": "l-diversity l=2, kind=distinct, column=ill",
                "words": "Among those who look alike there are at least 2 "
                "different values of 'ill'.",
                "worst": "–",
                "holds": True,
            },
        ],
        "holds": True,
        "numbers": [
            {
                "name": "risk",
                "text": "25 %",
                "sentence": "for the record that is easiest to find",
                "share": 0.25,
                "limit": 0.1,
            },
            {
                "name": "loss",
                "text": "36.38 %",
                "sentence": "of the information of the recoded columns (NCP)",
                "share": 0.36384439359267734,
                "limit": None,
            },
            {"name": "records", "text": "19", "sentence": "released", "share": 1.0, "limit": None},
        ],
        "profile": {
            "profile": {
                "name": "us-schools",
                "title": "Group size of most US states for school data",
                "max_risk": None,
                "measure": "maximum",
                "smallest_class": 10,
                "model": "size of the smallest class; of persons where a person column is named",
                "source": "National Center for Education Statistics, "
                "SLDS Technical Brief 3 (NCES 2011-603)",
                "address": "https://nces.ed.gov/pubs2011/2011603.pdf",
                "date": "2010-12-01",
                "says": "The brief of December 2010 reports what states "
                "do and sets no figure of its own: minimum group "
                "sizes from 5 to 30 students, most often 10 (39 "
                "states). Take your own state's rule where it "
                "has one.",
            },
            "passed": False,
            "failures": [],
        },
        "warnings": ["There are warnings; the internal report has them."],
    },
    "columns": [
        {
            "name": "age",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized: each class gets what covers its values",
            "loss": 0.46453089244851253,
            "bars": None,
        },
        {
            "name": "ward",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized: each class gets what covers its values",
            "loss": 0.2631578947368421,
            "bars": None,
        },
        {
            "name": "ill",
            "role": "sensitive",
            "why": "what nobody should learn of a person",
            "technique": "released as it is",
            "loss": None,
            "bars": None,
        },
    ],
    "risk": {
        "attackers": [
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "maximum",
                "before": None,
                "after": 0.25,
                "limit": 0.1,
            },
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "average",
                "before": None,
                "after": 0.21052631578947367,
                "limit": None,
            },
            {
                "name": "marketer",
                "knows": "wants to find as many people as possible, not one",
                "measure": "average",
                "before": None,
                "after": 0.21052631578947367,
                "limit": None,
            },
        ],
        "sizes": None,
        "attacks": [],
        "questions": [
            {
                "question": "singling out",
                "asks": "Can somebody isolate the records of one person?",
                "answer": "In the recoded columns nobody is alone in a class; the "
                "smallest class has fewer than 10 records. No attack of "
                "this kind was carried out.",
            },
            {
                "question": "linkability",
                "asks": "Can somebody link records of one person, here and elsewhere?",
                "answer": "Somebody who knows everybody's quasi-identifiers points "
                "out 21.05 % of the records rightly on average, and anybody "
                "with at most 25 %. No attack of this kind was carried "
                "out.",
            },
            {
                "question": "inference",
                "asks": "Can somebody work out a person's sensitive value?",
                "answer": "The spread of sensitive values within classes is promised: "
                "l-diversity l=2, kind=distinct, column=ill. No attack of "
                "this kind was carried out.",
            },
        ],
        "not_protected": [
            "Columns that are released as they are (ill): whoever knows one of "
            "their values of a person may tell apart those who look alike.",
            "Persons with several records: each record counts as a person of its own.",
            "That somebody is in the table at all: the release does not hide it.",
            "Several releases of the same people, laid over each other: ask `shoal compose`.",
            "What is learned about groups: a study of the release may say "
            "something about everybody who is like them.",
        ],
        "unit": "record",
        "columns": {},
    },
    "utility": {
        "measures": [
            {
                "name": "ncp",
                "text": "0.363844",
                "sentence": "share of the information of the recoded columns that "
                "is lost; 0 is nothing, 1 is all",
            },
            {
                "name": "precision",
                "text": "0.636156",
                "sentence": "share of the hierarchies' levels that is left; 1 is nothing lost",
            },
            {
                "name": "loss",
                "text": "0.379175",
                "sentence": "share of the original values that each released cell "
                "covers; 0 is nothing lost",
            },
            {
                "name": "sse_loss",
                "text": "not known",
                "sentence": "percentage of the variation that is lost by replacing "
                "values by their centroid",
            },
        ],
        "losses": {"age": 0.46453089244851253, "ward": 0.2631578947368421},
        "associations": None,
        "fidelity": [],
        "models": [],
        "models_note": "",
    },
    "making": {
        "facts": {"method": "mondrian"},
        "hashes": {},
        "versions": {"shoal": "1.2.3"},
        "waivers": [],
        "notices": [],
        "hierarchies": {},
        "request": None,
        "by": "The data office",
        "date": "2026-01-31",
        "checklist": [],
    },
}

LATTICE = {
    "version": 1,
    "kind": "release",
    "audience": "internal",
    "title": "Release of stays.csv",
    "decision": {
        "what": [
            "18 of 19 records of stays.csv are released in release.csv; 1 are suppressed.",
            "The release was read again and verified after it was written. It keeps its promise.",
        ],
        "recipient": "The research network",
        "purpose": "A study of stays",
        "promises": [
            {
                "model": "k-anonymity k=3",
                "words": "Every record looks like at least 2 other records in all recoded columns.",
                "worst": "3",
                "holds": True,
            },
            {
                "model": "l-diversity l=2, kind=distinct, column=ill",
                "words": "Among those who look alike there are at least 2 "
                "different values of 'ill'.",
                "worst": "2",
                "holds": True,
            },
        ],
        "holds": True,
        "numbers": [
            {
                "name": "risk",
                "text": "33.33 %",
                "sentence": "for the record that is easiest to find. Records are "
                "counted, not people",
                "share": 0.3333333333333333,
                "limit": 0.1,
            },
            {
                "name": "loss",
                "text": "28.95 %",
                "sentence": "of the information of the recoded columns (NCP)",
                "share": 0.2894736842105263,
                "limit": None,
            },
            {
                "name": "records",
                "text": "18",
                "sentence": "released, 94.74 % of all",
                "share": 0.9473684210526315,
                "limit": None,
            },
        ],
        "profile": {
            "profile": {
                "name": "us-schools",
                "title": "Group size of most US states for school data",
                "max_risk": None,
                "measure": "maximum",
                "smallest_class": 10,
                "model": "size of the smallest class; of persons where a person column is named",
                "source": "National Center for Education Statistics, "
                "SLDS Technical Brief 3 (NCES 2011-603)",
                "address": "https://nces.ed.gov/pubs2011/2011603.pdf",
                "date": "2010-12-01",
                "says": "The brief of December 2010 reports what states "
                "do and sets no figure of its own: minimum group "
                "sizes from 5 to 30 students, most often 10 (39 "
                "states). Take your own state's rule where it "
                "has one.",
            },
            "passed": False,
            "failures": [
                "people have several records, and records were counted; "
                "name the column that says who they are about "
                "(--person)",
                "the smallest class has 3 records, where 10 are asked for",
            ],
        },
        "warnings": [
            "k counts records, not people: 'who' repeats (17 values on 19 "
            "records), and 0 classes (0 records) belong to fewer than 3 of its "
            "values, 0 to a single one"
        ],
    },
    "columns": [
        {
            "name": "age",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized to level 3 of its hierarchy",
            "loss": 0.5263157894736842,
            "bars": {
                "names": [
                    "20 – 29",
                    "30 – 39",
                    "40 – 49",
                    "50 – 59",
                    "60 – 69",
                    "70 – 79",
                    "80 – 89",
                    "90 – 99",
                ],
                "before": [6.0, 0.0, 6.0, 0.0, 6.0, 0.0, 0.0, 1.0],
                "after": [6.0, 0.0, 6.0, 0.0, 6.0, 0.0, 0.0, 0.0],
                "unit": "record",
                "note": "After: each released label is spread evenly over the values "
                "that it covers.",
            },
        },
        {
            "name": "ward",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized to level 0 of its hierarchy",
            "loss": 0.05263157894736842,
            "bars": {
                "names": ["a1", "a2", "b1"],
                "before": [9.0, 9.0, 1.0],
                "after": [9.0, 9.0, 0.0],
                "unit": "record",
                "note": "After: each released label is spread evenly over the values "
                "that it covers.",
            },
        },
        {
            "name": "ill",
            "role": "sensitive",
            "why": "what nobody should learn of a person",
            "technique": "released as it is",
            "loss": None,
            "bars": None,
        },
        {
            "name": "who",
            "role": "identifying",
            "why": "says by itself who a person is",
            "technique": "removed",
            "loss": None,
            "bars": None,
        },
    ],
    "risk": {
        "attackers": [
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "maximum",
                "before": 1.0,
                "after": 0.3333333333333333,
                "limit": 0.1,
            },
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "average",
                "before": 1.0,
                "after": 0.3333333333333333,
                "limit": None,
            },
            {
                "name": "marketer",
                "knows": "wants to find as many people as possible, not one",
                "measure": "average",
                "before": 1.0,
                "after": 0.3333333333333333,
                "limit": None,
            },
        ],
        "sizes": {
            "names": [
                "1",
                "2",
                "3 to 4",
                "5 to 9",
                "10 to 19",
                "20 to 49",
                "50 to 99",
                "100 and more",
            ],
            "before": [19.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "after": [0.0, 0.0, 18.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "unit": "record",
            "note": "Records by the size of their class.",
        },
        "attacks": [],
        "questions": [
            {
                "question": "singling out",
                "asks": "Can somebody isolate the records of one person?",
                "answer": "In the recoded columns nobody is alone in a class; the "
                "smallest class has 3 records. No attack of this kind was "
                "carried out.",
            },
            {
                "question": "linkability",
                "asks": "Can somebody link records of one person, here and elsewhere?",
                "answer": "Somebody who knows everybody's quasi-identifiers points "
                "out 33.33 % of the records rightly on average, and anybody "
                "with at most 33.33 %. No attack of this kind was carried "
                "out.",
            },
            {
                "question": "inference",
                "asks": "Can somebody work out a person's sensitive value?",
                "answer": "The spread of sensitive values within classes is promised: "
                "l-diversity l=2, kind=distinct, column=ill. No attack of "
                "this kind was carried out.",
            },
        ],
        "not_protected": [
            "Columns that are released as they are (ill): whoever knows one of "
            "their values of a person may tell apart those who look alike.",
            "Persons: they have several records, and records were counted. See the warnings.",
            "That somebody is in the table at all: the release does not hide it.",
            "Several releases of the same people, laid over each other: ask `shoal compose`.",
            "What is learned about groups: a study of the release may say "
            "something about everybody who is like them.",
        ],
        "unit": "record",
        "columns": {},
    },
    "utility": {
        "measures": [
            {
                "name": "il",
                "text": "11",
                "sentence": "information lost, summed over records and columns; 0 is nothing",
            },
            {
                "name": "ncp",
                "text": "0.289474",
                "sentence": "share of the information of the recoded columns that "
                "is lost; 0 is nothing, 1 is all",
            },
            {
                "name": "dm",
                "text": "73",
                "sentence": "sum of the squared class sizes: how many records each "
                "record can be mistaken for",
            },
            {
                "name": "cm",
                "text": "0.368421",
                "sentence": "share of records whose target value is not their class's commonest",
            },
            {"name": "aecs", "text": "2.71429", "sentence": "records of an average class"},
            {
                "name": "class-entropy",
                "text": "2.74638",
                "sentence": "how finely classes still tell records apart, in bits; "
                "larger is better",
            },
            {
                "name": "height-utility",
                "text": "1.42105",
                "sentence": "levels of the hierarchies that are left, summed over "
                "columns; larger is better",
            },
            {
                "name": "precision",
                "text": "0.710526",
                "sentence": "share of the hierarchies' levels that is left; 1 is nothing lost",
            },
            {
                "name": "loss",
                "text": "0.176878",
                "sentence": "share of the original values that each released cell "
                "covers; 0 is nothing lost",
            },
            {
                "name": "usefulness",
                "text": "0.384058",
                "sentence": "how varied the values of a class are; smaller is better for analysis",
            },
            {
                "name": "protection",
                "text": "1.5",
                "sentence": "how little the sensitive values of a class vary; "
                "smaller protects better",
            },
            {
                "name": "sse_loss",
                "text": "not known",
                "sentence": "percentage of the variation that is lost by replacing "
                "values by their centroid",
            },
        ],
        "losses": {"age": 0.5263157894736842, "ward": 0.05263157894736842},
        "associations": {
            "columns": ["age", "ward"],
            "before": [[1.0, 0.707107], [0.707107, 1.0]],
            "after": [[1.0, 0.0], [0.0, 1.0]],
        },
        "fidelity": [],
        "models": [],
        "models_note": "",
    },
    "making": {
        "facts": {
            "method": "flash",
            "classes": "6, the smallest has 3 records",
            "seed": "0",
            "levels": "age 3, ward 0",
            "lattice": "18",
            "evaluated": "8",
            "optimal": "yes",
        },
        "hashes": {
            "input": "0000000000000000000000000000000000000000000000000000000000000000",
            "release": "1111111111111111111111111111111111111111111111111111111111111111",
        },
        "versions": {"shoal": "1.2.3"},
        "waivers": [],
        "notices": [
            "no hierarchy was given for 'age' (intervals): proposed by infer (--no-infer: none)"
        ],
        "hierarchies": {
            "age": "*\n"
            "├── [20, 40)\n"
            "│   └── [20, 30)\n"
            "│       ├── [20, 25) (4 leaves)\n"
            "│       └── [25, 30) (2 leaves)\n"
            "├── [40, 60)\n"
            "│   └── [40, 50)\n"
            "│       ├── [40, 45) (4 leaves)\n"
            "│       └── [45, 50) (2 leaves)\n"
            "├── [60, 80)\n"
            "│   └── [60, 70)\n"
            "│       ├── [60, 65) (4 leaves)\n"
            "│       └── [65, 70) (2 leaves)\n"
            "└── 90+\n"
            "    └── 90",
            "ward": "*\n├── a\n│   ├── a1\n│   └── a2\n└── b\n    ├── b1\n    └── b2",
        },
        "request": {
            "job": "release",
            "table": "a table in memory",
            "schema": {
                "version": 1,
                "columns": {
                    "age": {"role": "quasi", "kind": "numeric"},
                    "ward": {
                        "role": "quasi",
                        "kind": "categorical",
                        "hierarchy": "(left out: values of the data)",
                    },
                    "ill": {"role": "sensitive"},
                    "who": {"role": "identifying"},
                },
                "others": "fault",
                "privacy": [
                    {"model": "k-anonymity", "k": 3},
                    {"model": "l-diversity", "l": 2, "kind": "distinct"},
                ],
                "suppression_limit": 0.1,
            },
            "method": {"name": "flash"},
            "output": {"suppressed": "remove"},
            "checks": {"pictures": True},
        },
        "by": "The data office",
        "date": "2026-01-31",
        "checklist": [],
    },
}

PERSONS = {
    "version": 1,
    "kind": "release",
    "audience": "internal",
    "title": "Release of stays.csv",
    "decision": {
        "what": [
            "19 of 19 records of stays.csv are released in release.csv, of 17 "
            "persons; 0 are suppressed.",
            "The release was read again and verified after it was written. It keeps its promise.",
        ],
        "recipient": "The research network",
        "purpose": "A study of stays",
        "promises": [
            {
                "model": "k-anonymity k=3",
                "words": "Every person looks like at least 2 other persons in all recoded columns.",
                "worst": "4",
                "holds": True,
            },
            {
                "model": "l-diversity l=2, kind=distinct, column=ill",
                "words": "Among those who look alike there are at least 2 "
                "different values of 'ill'.",
                "worst": "2",
                "holds": True,
            },
        ],
        "holds": True,
        "numbers": [
            {
                "name": "risk",
                "text": "25 %",
                "sentence": "for the person who is easiest to find",
                "share": 0.25,
                "limit": 0.1,
            },
            {
                "name": "loss",
                "text": "36.38 %",
                "sentence": "of the information of the recoded columns (NCP)",
                "share": 0.36384439359267734,
                "limit": None,
            },
            {
                "name": "records",
                "text": "19",
                "sentence": "released, 100 % of all",
                "share": 1.0,
                "limit": None,
            },
        ],
        "profile": {
            "profile": {
                "name": "us-schools",
                "title": "Group size of most US states for school data",
                "max_risk": None,
                "measure": "maximum",
                "smallest_class": 10,
                "model": "size of the smallest class; of persons where a person column is named",
                "source": "National Center for Education Statistics, "
                "SLDS Technical Brief 3 (NCES 2011-603)",
                "address": "https://nces.ed.gov/pubs2011/2011603.pdf",
                "date": "2010-12-01",
                "says": "The brief of December 2010 reports what states "
                "do and sets no figure of its own: minimum group "
                "sizes from 5 to 30 students, most often 10 (39 "
                "states). Take your own state's rule where it "
                "has one.",
            },
            "passed": False,
            "failures": ["the smallest class has 4 persons, where 10 are asked for"],
        },
        "warnings": [],
    },
    "columns": [
        {
            "name": "age",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized: each class gets what covers its values",
            "loss": 0.46453089244851253,
            "bars": {
                "names": [
                    "20 – 29",
                    "30 – 39",
                    "40 – 49",
                    "50 – 59",
                    "60 – 69",
                    "70 – 79",
                    "80 – 89",
                    "90 – 99",
                ],
                "before": [5.0, 0.0, 6.0, 0.0, 5.5, 0.0, 0.0, 0.5],
                "after": [3.380952, 4.285714, 2.69697, 2.909091, 1.909091, 0.909091, 0.909091, 0.0],
                "unit": "person",
                "note": "After: each released label is spread evenly over the values "
                "that it covers. A person counts once, shared out over their "
                "records.",
            },
        },
        {
            "name": "ward",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "generalized: each class gets what covers its values",
            "loss": 0.2631578947368421,
            "bars": {
                "names": ["a1", "a2", "b1"],
                "before": [8.0, 8.5, 0.5],
                "after": [9.333333, 6.333333, 1.333333],
                "unit": "person",
                "note": "After: each released label is spread evenly over the values "
                "that it covers. A person counts once, shared out over their "
                "records.",
            },
        },
        {
            "name": "ill",
            "role": "sensitive",
            "why": "what nobody should learn of a person",
            "technique": "released as it is",
            "loss": None,
            "bars": None,
        },
        {
            "name": "who",
            "role": "person",
            "why": "says who a record is about: persons are counted by it",
            "technique": "not released",
            "loss": None,
            "bars": None,
        },
    ],
    "risk": {
        "attackers": [
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "maximum",
                "before": 1.0,
                "after": 0.25,
                "limit": 0.1,
            },
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "average",
                "before": 1.0,
                "after": 0.21176470588235297,
                "limit": None,
            },
            {
                "name": "marketer",
                "knows": "wants to find as many people as possible, not one",
                "measure": "average",
                "before": 1.0,
                "after": 0.21176470588235297,
                "limit": None,
            },
        ],
        "sizes": {
            "names": [
                "1",
                "2",
                "3 to 4",
                "5 to 9",
                "10 to 19",
                "20 to 49",
                "50 to 99",
                "100 and more",
            ],
            "before": [19.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "after": [0.0, 0.0, 4.0, 15.0, 0.0, 0.0, 0.0, 0.0],
            "unit": "person",
            "note": "Persons by the size of their class. A person counts once in each class.",
        },
        "attacks": [],
        "questions": [
            {
                "question": "singling out",
                "asks": "Can somebody isolate the records of one person?",
                "answer": "In the recoded columns nobody is alone in a class; the "
                "smallest class has 4 persons. No attack of this kind was "
                "carried out.",
            },
            {
                "question": "linkability",
                "asks": "Can somebody link records of one person, here and elsewhere?",
                "answer": "Somebody who knows everybody's quasi-identifiers points "
                "out 21.18 % of the persons rightly on average, and anybody "
                "with at most 25 %. No attack of this kind was carried "
                "out.",
            },
            {
                "question": "inference",
                "asks": "Can somebody work out a person's sensitive value?",
                "answer": "The spread of sensitive values within classes is promised: "
                "l-diversity l=2, kind=distinct, column=ill. No attack of "
                "this kind was carried out.",
            },
        ],
        "not_protected": [
            "Columns that are released as they are (ill): whoever knows one of "
            "their values of a person may tell apart those who look alike.",
            "Equal shares: one person may have 25 % of a class's records.",
            "That somebody is in the table at all: the release does not hide it.",
            "Several releases of the same people, laid over each other: ask `shoal compose`.",
            "What is learned about groups: a study of the release may say "
            "something about everybody who is like them.",
        ],
        "unit": "person",
        "columns": {},
    },
    "utility": {
        "measures": [
            {
                "name": "il",
                "text": "13.8261",
                "sentence": "information lost, summed over records and columns; 0 is nothing",
            },
            {
                "name": "ncp",
                "text": "0.363844",
                "sentence": "share of the information of the recoded columns that "
                "is lost; 0 is nothing, 1 is all",
            },
            {
                "name": "dm",
                "text": "91",
                "sentence": "sum of the squared class sizes: how many records each "
                "record can be mistaken for",
            },
            {
                "name": "cm",
                "text": "0.368421",
                "sentence": "share of records whose target value is not their class's commonest",
            },
            {"name": "aecs", "text": "4.75", "sentence": "records of an average class"},
            {
                "name": "class-entropy",
                "text": "1.99377",
                "sentence": "how finely classes still tell records apart, in bits; "
                "larger is better",
            },
            {
                "name": "height-utility",
                "text": "1.27231",
                "sentence": "levels of the hierarchies that are left, summed over "
                "columns; larger is better",
            },
            {
                "name": "precision",
                "text": "0.636156",
                "sentence": "share of the hierarchies' levels that is left; 1 is nothing lost",
            },
            {
                "name": "loss",
                "text": "0.379175",
                "sentence": "share of the original values that each released cell "
                "covers; 0 is nothing lost",
            },
            {
                "name": "usefulness",
                "text": "0.800725",
                "sentence": "how varied the values of a class are; smaller is better for analysis",
            },
            {
                "name": "protection",
                "text": "1.5",
                "sentence": "how little the sensitive values of a class vary; "
                "smaller protects better",
            },
            {
                "name": "sse_loss",
                "text": "not known",
                "sentence": "percentage of the variation that is lost by replacing "
                "values by their centroid",
            },
        ],
        "losses": {"age": 0.46453089244851253, "ward": 0.2631578947368421},
        "associations": {
            "columns": ["age", "ward"],
            "before": [[1.0, 0.712029], [0.712029, 1.0]],
            "after": [[1.0, 0.354715], [0.354715, 1.0]],
        },
        "fidelity": [],
        "models": [],
        "models_note": "",
    },
    "making": {
        "facts": {"method": "mondrian", "classes": "4, the smallest has 4 persons", "seed": "0"},
        "hashes": {
            "input": "0000000000000000000000000000000000000000000000000000000000000000",
            "release": "1111111111111111111111111111111111111111111111111111111111111111",
        },
        "versions": {"shoal": "1.2.3"},
        "waivers": [],
        "notices": [],
        "hierarchies": {"ward": "*\n├── a\n│   ├── a1\n│   └── a2\n└── b\n    ├── b1\n    └── b2"},
        "request": {
            "job": "release",
            "table": "a table in memory",
            "schema": {
                "version": 1,
                "columns": {
                    "age": {"role": "quasi", "kind": "numeric"},
                    "ward": {
                        "role": "quasi",
                        "kind": "categorical",
                        "hierarchy": "(left out: values of the data)",
                    },
                    "ill": {"role": "sensitive"},
                    "who": {"role": "person"},
                },
                "others": "fault",
                "privacy": [
                    {"model": "k-anonymity", "k": 3},
                    {"model": "l-diversity", "l": 2, "kind": "distinct"},
                ],
                "suppression_limit": 0.1,
            },
            "method": {"name": "mondrian"},
            "output": {"suppressed": "remove"},
            "checks": {"pictures": True},
        },
        "by": "The data office",
        "date": "2026-01-31",
        "checklist": [],
    },
}

RISK = {
    "version": 1,
    "kind": "risk",
    "audience": "internal",
    "title": "Risk of stays.csv",
    "decision": {
        "what": [
            "19 records of stays.csv, measured as they stand.",
            "19 records are alone with their quasi-identifiers.",
        ],
        "recipient": "The research network",
        "purpose": "A study of stays",
        "promises": [],
        "holds": None,
        "numbers": [
            {
                "name": "highest risk",
                "text": "100 %",
                "sentence": "for the record easiest to find",
                "share": 1.0,
                "limit": 0.1,
            },
            {
                "name": "average risk",
                "text": "100 %",
                "sentence": "of the records are expected to be found",
                "share": 1.0,
                "limit": None,
            },
            {"name": "records", "text": "19", "sentence": "measured", "share": 1.0, "limit": None},
        ],
        "profile": {
            "profile": {
                "name": "us-schools",
                "title": "Group size of most US states for school data",
                "max_risk": None,
                "measure": "maximum",
                "smallest_class": 10,
                "model": "size of the smallest class; of persons where a person column is named",
                "source": "National Center for Education Statistics, "
                "SLDS Technical Brief 3 (NCES 2011-603)",
                "address": "https://nces.ed.gov/pubs2011/2011603.pdf",
                "date": "2010-12-01",
                "says": "The brief of December 2010 reports what states "
                "do and sets no figure of its own: minimum group "
                "sizes from 5 to 30 students, most often 10 (39 "
                "states). Take your own state's rule where it "
                "has one.",
            },
            "passed": False,
            "failures": ["the smallest class has 1 records, where 10 are asked for"],
        },
        "warnings": [],
    },
    "columns": [
        {
            "name": "age",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "as it stands",
            "loss": None,
            "bars": None,
        },
        {
            "name": "ward",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "as it stands",
            "loss": None,
            "bars": None,
        },
    ],
    "risk": {
        "attackers": [
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "maximum",
                "before": None,
                "after": 1.0,
                "limit": 0.1,
            },
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "average",
                "before": None,
                "after": 1.0,
                "limit": None,
            },
            {
                "name": "marketer",
                "knows": "wants to find as many people as possible, not one",
                "measure": "average",
                "before": None,
                "after": 1.0,
                "limit": None,
            },
        ],
        "sizes": {
            "names": [
                "1",
                "2",
                "3 to 4",
                "5 to 9",
                "10 to 19",
                "20 to 49",
                "50 to 99",
                "100 and more",
            ],
            "before": None,
            "after": [19.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "unit": "record",
            "note": "Records by the records in their class.",
        },
        "attacks": [],
        "questions": [
            {
                "question": "singling out",
                "asks": "Can somebody isolate the records of one person?",
                "answer": "19 records are alone; the smallest class has 1 records. No "
                "attack of this kind was carried out.",
            },
            {
                "question": "linkability",
                "asks": "Can somebody link records of one person, here and elsewhere?",
                "answer": "Somebody who knows everybody's quasi-identifiers points "
                "out 100 % of the records rightly on average, and anybody "
                "with at most 100 %. No attack of this kind was carried "
                "out.",
            },
            {
                "question": "inference",
                "asks": "Can somebody work out a person's sensitive value?",
                "answer": "What classes say about sensitive values is shown by "
                "attacks alone. No attack of this kind was carried out.",
            },
        ],
        "not_protected": [
            "Nothing is promised of a table as it stands: this is what can be found in it.",
            "Columns that were not named as quasi-identifiers are not looked at.",
        ],
        "unit": "record",
        "columns": {"age": 0.95, "ward": 0.05},
    },
    "utility": None,
    "making": {
        "facts": {"classes": "19, the smallest has 1 records"},
        "hashes": {
            "input": "0000000000000000000000000000000000000000000000000000000000000000",
            "release": "1111111111111111111111111111111111111111111111111111111111111111",
        },
        "versions": {"shoal": "1.2.3"},
        "waivers": [],
        "notices": [],
        "hierarchies": {},
        "request": None,
        "by": "The data office",
        "date": "2026-01-31",
        "checklist": [],
    },
}

VERIFICATION = {
    "version": 1,
    "kind": "verification",
    "audience": "internal",
    "title": "Verification of stays.csv",
    "decision": {
        "what": ["19 records of stays.csv were judged.", "Every class keeps the promise."],
        "recipient": "The research network",
        "purpose": "A study of stays",
        "promises": [
            {
                "model": "k-anonymity k=3",
                "words": "Every record looks like at least 2 other records in all recoded columns.",
                "worst": "4",
                "holds": True,
            }
        ],
        "holds": True,
        "numbers": [
            {
                "name": "risk",
                "text": "25 %",
                "sentence": "for the record easiest to find",
                "share": 0.25,
                "limit": 0.1,
            },
            {
                "name": "smallest class",
                "text": "4",
                "sentence": "records who look alike",
                "share": 1.0,
                "limit": None,
            },
            {"name": "records", "text": "19", "sentence": "judged", "share": 1.0, "limit": None},
        ],
        "profile": {
            "profile": {
                "name": "us-schools",
                "title": "Group size of most US states for school data",
                "max_risk": None,
                "measure": "maximum",
                "smallest_class": 10,
                "model": "size of the smallest class; of persons where a person column is named",
                "source": "National Center for Education Statistics, "
                "SLDS Technical Brief 3 (NCES 2011-603)",
                "address": "https://nces.ed.gov/pubs2011/2011603.pdf",
                "date": "2010-12-01",
                "says": "The brief of December 2010 reports what states "
                "do and sets no figure of its own: minimum group "
                "sizes from 5 to 30 students, most often 10 (39 "
                "states). Take your own state's rule where it "
                "has one.",
            },
            "passed": False,
            "failures": ["the smallest class has 4 records, where 10 are asked for"],
        },
        "warnings": [],
    },
    "columns": [
        {
            "name": "age",
            "role": "quasi",
            "why": "others may know it of a person, and find them by it",
            "technique": "as it stands",
            "loss": None,
            "bars": None,
        }
    ],
    "risk": {
        "attackers": [
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "maximum",
                "before": None,
                "after": 0.25,
                "limit": 0.1,
            },
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "average",
                "before": None,
                "after": 0.21052631578947367,
                "limit": None,
            },
        ],
        "sizes": None,
        "attacks": [],
        "questions": [
            {
                "question": "singling out",
                "asks": "Can somebody isolate the records of one person?",
                "answer": "The smallest class has 4 records. No attack of this kind "
                "was carried out.",
            },
            {
                "question": "linkability",
                "asks": "Can somebody link records of one person, here and elsewhere?",
                "answer": "Somebody who knows a person's quasi-identifiers points "
                "them out with at most 25 %. No attack of this kind was "
                "carried out.",
            },
            {
                "question": "inference",
                "asks": "Can somebody work out a person's sensitive value?",
                "answer": "Nothing is promised about sensitive values within a class. "
                "No attack of this kind was carried out.",
            },
        ],
        "not_protected": [
            "Columns that are released as they are: whoever knows one of their "
            "values of a person may tell apart those who look alike.",
            "That somebody is in the table at all: the release does not hide it.",
            "Several releases of the same people, laid over each other: ask `shoal compose`.",
        ],
        "unit": "record",
        "columns": {},
    },
    "utility": None,
    "making": {
        "facts": {"classes": "4"},
        "hashes": {
            "input": "0000000000000000000000000000000000000000000000000000000000000000",
            "release": "1111111111111111111111111111111111111111111111111111111111111111",
        },
        "versions": {"shoal": "1.2.3"},
        "waivers": [],
        "notices": [],
        "hierarchies": {},
        "request": None,
        "by": "The data office",
        "date": "2026-01-31",
        "checklist": [],
    },
}

BATCH = {
    "version": 1,
    "kind": "batch",
    "audience": "internal",
    "title": "Release of stays.csv",
    "decision": {
        "what": [
            "19 of 19 records of stays.csv are released by a model in release.csv; "
            "0 are suppressed.",
            "Every class keeps the promise.",
        ],
        "recipient": "The research network",
        "purpose": "A study of stays",
        "promises": [
            {
                "model": "k-anonymity k=3",
                "words": "Every record looks like at least 2 other records in all recoded columns.",
                "worst": "4",
                "holds": True,
            }
        ],
        "holds": True,
        "numbers": [
            {
                "name": "risk",
                "text": "25 %",
                "sentence": "for the record easiest to find",
                "share": 0.25,
                "limit": 0.1,
            },
            {
                "name": "smallest class",
                "text": "4",
                "sentence": "records who look alike",
                "share": 1.0,
                "limit": None,
            },
            {"name": "records", "text": "19", "sentence": "judged", "share": 1.0, "limit": None},
        ],
        "profile": {
            "profile": {
                "name": "us-schools",
                "title": "Group size of most US states for school data",
                "max_risk": None,
                "measure": "maximum",
                "smallest_class": 10,
                "model": "size of the smallest class; of persons where a person column is named",
                "source": "National Center for Education Statistics, "
                "SLDS Technical Brief 3 (NCES 2011-603)",
                "address": "https://nces.ed.gov/pubs2011/2011603.pdf",
                "date": "2010-12-01",
                "says": "The brief of December 2010 reports what states "
                "do and sets no figure of its own: minimum group "
                "sizes from 5 to 30 students, most often 10 (39 "
                "states). Take your own state's rule where it "
                "has one.",
            },
            "passed": False,
            "failures": ["the smallest class has 4 records, where 10 are asked for"],
        },
        "warnings": [],
    },
    "columns": [],
    "risk": {
        "attackers": [
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "maximum",
                "before": None,
                "after": 0.25,
                "limit": 0.1,
            },
            {
                "name": "prosecutor",
                "knows": "knows that a person is in the table, and all their quasi-identifiers",
                "measure": "average",
                "before": None,
                "after": 0.21052631578947367,
                "limit": None,
            },
        ],
        "sizes": None,
        "attacks": [],
        "questions": [
            {
                "question": "singling out",
                "asks": "Can somebody isolate the records of one person?",
                "answer": "The smallest class has 4 records. No attack of this kind "
                "was carried out.",
            },
            {
                "question": "linkability",
                "asks": "Can somebody link records of one person, here and elsewhere?",
                "answer": "Somebody who knows a person's quasi-identifiers points "
                "them out with at most 25 %. No attack of this kind was "
                "carried out.",
            },
            {
                "question": "inference",
                "asks": "Can somebody work out a person's sensitive value?",
                "answer": "Nothing is promised about sensitive values within a class. "
                "No attack of this kind was carried out.",
            },
        ],
        "not_protected": [
            "Columns that are released as they are: whoever knows one of their "
            "values of a person may tell apart those who look alike.",
            "That somebody is in the table at all: the release does not hide it.",
            "Several releases of the same people, laid over each other: ask `shoal compose`.",
        ],
        "unit": "record",
        "columns": {},
    },
    "utility": None,
    "making": {
        "facts": {"classes": "4", "values never seen by the model": "0"},
        "hashes": {
            "input": "0000000000000000000000000000000000000000000000000000000000000000",
            "release": "1111111111111111111111111111111111111111111111111111111111111111",
        },
        "versions": {"shoal": "1.2.3"},
        "waivers": [],
        "notices": [],
        "hierarchies": {},
        "request": None,
        "by": "The data office",
        "date": "2026-01-31",
        "checklist": [],
    },
}
