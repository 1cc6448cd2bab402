"""What the hospital sample knows about medicine: diagnoses, departments, insurance.

The numbers are rounded guesses in the spirit of published hospital statistics: good
enough to give a table the skew of a real register, not a source for anything else.
Codes, blocks and chapters follow ICD-10.
"""

from __future__ import annotations

from typing import NamedTuple


class Diagnosis(NamedTuple):
    """One three-character ICD-10 code and what its stays are like."""

    code: str
    block: str
    weight: float  # how frequent, against the others
    female: float  # share of women; 0 and 1 mean that only one sex has it
    age: float  # mean of the adults' ages
    spread: float  # standard deviation of the adults' ages; 0: all are of the mean age
    children: float  # share of patients who are children
    department: str
    stay: float  # median days
    cost: float  # typical cost of a stay without its days
    calendar: str  # one of CALENDARS


CALENDARS = ("planned", "emergency", "winter")
"""How admissions spread over week and year: on weekdays, evenly, evenly with a winter peak."""

CHAPTERS = {
    "A": "I Infections", "B": "I Infections", "C": "II Neoplasms", "D": "III Blood",
    "E": "IV Endocrine and metabolic", "F": "V Mental", "G": "VI Nervous system",
    "H": "VII Eye", "I": "IX Circulatory", "J": "X Respiratory", "K": "XI Digestive",
    "L": "XII Skin", "M": "XIII Musculoskeletal", "N": "XIV Genitourinary",
    "O": "XV Pregnancy and birth", "P": "XVI Perinatal", "Q": "XVII Congenital",
    "R": "XVIII Symptoms", "S": "XIX Injury", "T": "XIX Injury", "Z": "XXI Contact with services",
}  # fmt: skip
"""Chapter by first letter; `chapter` knows the two letters that are shared by two chapters."""

DIAGNOSES = tuple(
    Diagnosis(*row)
    for row in (
        ("A09", "A00-A09", 150, 0.54, 58, 24, 0.35, "internal medicine", 3, 900, "winter"),
        ("A15", "A15-A19", 1.5, 0.38, 47, 18, 0.03, "pneumology", 18, 2600, "emergency"),
        ("A39", "A30-A49", 0.2, 0.48, 24, 12, 0.60, "intensive care", 11, 6800, "winter"),
        ("A41", "A30-A49", 105, 0.45, 74, 13, 0.02, "intensive care", 10, 5200, "emergency"),
        ("B20", "B20-B24", 1.2, 0.24, 46, 12, 0.00, "internal medicine", 12, 4300, "emergency"),
        ("B99", "B99-B99", 35, 0.50, 50, 24, 0.30, "internal medicine", 4, 1300, "winter"),
        ("C18", "C15-C26", 75, 0.45, 72, 11, 0.00, "surgery", 9, 6100, "planned"),
        ("C25", "C15-C26", 28, 0.48, 71, 10, 0.00, "surgery", 10, 7400, "planned"),
        ("C34", "C30-C39", 120, 0.40, 68, 9, 0.00, "pneumology", 6, 4200, "planned"),
        ("C50", "C50-C50", 95, 0.99, 62, 13, 0.00, "gynaecology", 4, 4100, "planned"),
        ("C61", "C60-C63", 62, 0.00, 69, 8, 0.00, "urology", 6, 5300, "planned"),
        ("C67", "C64-C68", 60, 0.23, 73, 10, 0.00, "urology", 5, 3200, "planned"),
        ("D25", "D10-D36", 45, 1.00, 46, 7, 0.00, "gynaecology", 3, 3400, "planned"),
        ("D50", "D50-D53", 48, 0.60, 73, 15, 0.01, "internal medicine", 4, 1500, "planned"),
        ("D66", "D65-D69", 0.3, 0.03, 34, 18, 0.45, "internal medicine", 6, 14000, "emergency"),
        ("E04", "E00-E07", 38, 0.76, 54, 13, 0.00, "surgery", 3, 3500, "planned"),
        ("E10", "E10-E14", 32, 0.47, 38, 19, 0.38, "internal medicine", 6, 1900, "emergency"),
        ("E11", "E10-E14", 110, 0.44, 68, 12, 0.00, "internal medicine", 8, 2700, "emergency"),
        ("E84", "E70-E90", 0.8, 0.48, 27, 8, 0.50, "pneumology", 11, 6500, "planned"),
        ("E86", "E70-E90", 60, 0.61, 79, 13, 0.08, "internal medicine", 5, 1300, "emergency"),
        ("F10", "F10-F19", 175, 0.27, 46, 13, 0.01, "psychiatry", 5, 1100, "emergency"),
        ("F20", "F20-F29", 52, 0.42, 41, 14, 0.00, "psychiatry", 24, 2100, "emergency"),
        ("F32", "F30-F39", 68, 0.57, 46, 17, 0.06, "psychiatry", 27, 1900, "planned"),
        ("F43", "F40-F48", 40, 0.60, 37, 15, 0.12, "psychiatry", 8, 1300, "emergency"),
        ("G12", "G10-G14", 0.4, 0.44, 63, 11, 0.08, "neurology", 8, 5100, "planned"),
        ("G35", "G35-G37", 9, 0.70, 42, 12, 0.01, "neurology", 5, 2900, "planned"),
        ("G40", "G40-G47", 85, 0.46, 55, 22, 0.25, "neurology", 4, 2000, "emergency"),
        ("G47", "G40-G47", 70, 0.28, 57, 12, 0.03, "pneumology", 2, 800, "planned"),
        ("H25", "H25-H28", 50, 0.57, 75, 9, 0.00, "ophthalmology", 2, 1400, "planned"),
        ("I10", "I10-I15", 130, 0.64, 71, 14, 0.00, "cardiology", 3, 1100, "emergency"),
        ("I20", "I20-I25", 105, 0.36, 69, 11, 0.00, "cardiology", 3, 2600, "emergency"),
        ("I21", "I20-I25", 125, 0.34, 70, 13, 0.00, "cardiology", 5, 5600, "emergency"),
        ("I48", "I30-I52", 165, 0.45, 71, 11, 0.00, "cardiology", 3, 2400, "planned"),
        ("I50", "I30-I52", 250, 0.50, 80, 10, 0.00, "cardiology", 8, 3300, "winter"),
        ("I63", "I60-I69", 145, 0.47, 74, 12, 0.00, "neurology", 8, 4900, "emergency"),
        ("I70", "I70-I79", 98, 0.36, 71, 10, 0.00, "surgery", 6, 5100, "planned"),
        ("J18", "J09-J18", 155, 0.45, 73, 16, 0.12, "pneumology", 7, 2500, "winter"),
        ("J20", "J20-J22", 80, 0.47, 66, 20, 0.55, "internal medicine", 4, 1200, "winter"),
        ("J35", "J30-J39", 60, 0.48, 26, 10, 0.60, "ear-nose-throat", 3, 1500, "planned"),
        ("J44", "J40-J47", 130, 0.46, 71, 10, 0.00, "pneumology", 7, 2300, "winter"),
        ("K29", "K20-K31", 72, 0.57, 54, 22, 0.10, "internal medicine", 3, 1000, "emergency"),
        ("K35", "K35-K38", 62, 0.47, 34, 19, 0.30, "surgery", 4, 2900, "emergency"),
        ("K40", "K40-K46", 88, 0.12, 61, 15, 0.05, "surgery", 2, 2300, "planned"),
        ("K50", "K50-K52", 20, 0.54, 38, 15, 0.08, "internal medicine", 6, 2700, "emergency"),
        ("K57", "K55-K64", 82, 0.57, 65, 13, 0.00, "internal medicine", 6, 2700, "emergency"),
        ("K80", "K80-K87", 125, 0.60, 58, 17, 0.00, "surgery", 4, 3600, "planned"),
        ("L03", "L00-L08", 48, 0.45, 57, 19, 0.10, "surgery", 5, 1700, "emergency"),
        ("M16", "M15-M19", 92, 0.60, 70, 10, 0.00, "orthopaedics", 8, 6900, "planned"),
        ("M17", "M15-M19", 105, 0.62, 69, 9, 0.00, "orthopaedics", 8, 7100, "planned"),
        ("M51", "M50-M54", 80, 0.48, 53, 14, 0.00, "orthopaedics", 6, 3700, "planned"),
        ("M54", "M50-M54", 100, 0.61, 60, 16, 0.01, "orthopaedics", 6, 1500, "emergency"),
        ("N17", "N17-N19", 50, 0.47, 76, 13, 0.00, "internal medicine", 9, 3300, "emergency"),
        ("N20", "N20-N23", 78, 0.34, 52, 15, 0.01, "urology", 3, 1900, "emergency"),
        ("N39", "N30-N39", 95, 0.66, 74, 17, 0.08, "urology", 6, 1600, "emergency"),
        ("N40", "N40-N51", 50, 0.00, 71, 8, 0.00, "urology", 5, 3000, "planned"),
        ("O42", "O30-O48", 70, 1.00, 30.5, 5, 0.00, "obstetrics", 3, 1700, "emergency"),
        ("O80", "O80-O84", 165, 1.00, 30.5, 5, 0.00, "obstetrics", 3, 1600, "emergency"),
        ("O82", "O80-O84", 60, 1.00, 32, 5, 0.00, "obstetrics", 4, 3000, "planned"),
        ("P07", "P05-P08", 38, 0.48, 0, 0, 0.00, "neonatology", 16, 9500, "emergency"),
        ("Q21", "Q20-Q28", 3.5, 0.50, 38, 17, 0.65, "cardiology", 7, 11000, "planned"),
        ("R07", "R00-R09", 75, 0.48, 58, 17, 0.02, "cardiology", 2, 900, "emergency"),
        ("R55", "R50-R69", 95, 0.53, 68, 20, 0.06, "internal medicine", 3, 1100, "emergency"),
        ("S06", "S00-S09", 195, 0.46, 58, 26, 0.33, "neurology", 2, 1200, "emergency"),
        ("S52", "S50-S59", 90, 0.66, 61, 18, 0.18, "orthopaedics", 3, 2900, "emergency"),
        ("S72", "S70-S79", 120, 0.70, 81, 11, 0.01, "orthopaedics", 12, 7300, "emergency"),
        ("T84", "T80-T88", 58, 0.56, 70, 12, 0.00, "orthopaedics", 11, 8800, "planned"),
        ("Z38", "Z30-Z39", 330, 0.49, 0, 0, 0.00, "neonatology", 3, 700, "emergency"),
    )
)
"""Why people come to a hospital, and seven codes that hardly anyone has."""

DEPARTMENTS = {
    "cardiology": "internal", "internal medicine": "internal", "pneumology": "internal",
    "intensive care": "acute", "emergency": "acute",
    "surgery": "surgical", "orthopaedics": "surgical", "urology": "surgical",
    "ophthalmology": "surgical", "ear-nose-throat": "surgical",
    "gynaecology": "women and children", "obstetrics": "women and children",
    "neonatology": "women and children", "paediatrics": "women and children",
    "neurology": "head and mind", "psychiatry": "head and mind",
}  # fmt: skip
"""Department → group of departments."""

INSURANCES = {
    "public": "statutory", "public family": "statutory",
    "private basic": "private cover", "private full": "private cover",
    "civil service": "private cover",
    "self-payer": "other payer", "foreign": "other payer",
}  # fmt: skip
"""Insurance → group of insurances."""

SEXES = ("F", "M", "X")


def chapter(code: str) -> str:
    """Return the label of the ICD-10 chapter a code belongs to.

    Example:
        >>> chapter("I21"), chapter("D25"), chapter("D50")
        ('IX Circulatory', 'II Neoplasms', 'III Blood')
    """
    if code[0] == "D" and code[1:] < "50":
        return CHAPTERS["C"]
    if code[0] == "H" and code[1:] >= "60":
        return "VIII Ear"
    return CHAPTERS[code[0]]
