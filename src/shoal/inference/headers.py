"""What column headers say, in several languages, and which HIPAA class they belong to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from shoal.schema.schema import Role

HIPAA: Mapping[str, str] = {
    "A": "names",
    "B": "places smaller than a state",
    "C": "dates, and ages over 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and licence numbers",
    "L": "vehicle identifiers and licence plates",
    "M": "device identifiers and serial numbers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "full-face photographs",
    "R": "any other unique identifying number or code",
}
"""The 18 classes of the HIPAA Privacy Rule, 45 CFR 164.514(b)(2)(i)."""


@dataclass(frozen=True, slots=True)
class Concept:
    """What a column is about.

    Attributes:
        role: the role it gets.
        hipaa: its HIPAA class, if it has one.
        says: how it is called in a report.
        words: header words; "a b" stands for the two words side by side or written as one.
    """

    key: str
    role: Role
    says: str
    words: frozenset[str]
    hipaa: str | None = None


def _concept(key: str, role: Role, says: str, words: str, hipaa: str | None = None) -> Concept:
    return Concept(key, role, says, frozenset(w.strip() for w in words.split(",")), hipaa)


_I, _Q, _S = Role.IDENTIFYING, Role.QUASI, Role.SENSITIVE

# The first concept that matches wins, so the special ones stand before the general ones.
_ALL: tuple[Concept, ...] = (
    _concept("email", _I, "an e-mail address",
             "email, e mail, mail address, courriel, correo, correo electronico, epost", "F"),
    _concept("fax", _I, "a fax number", "fax, telefax, faks", "E"),
    _concept("phone", _I, "a phone number",
             "phone, telephone, tel, mobile, cell, cellphone, handy, telefon, telefonnummer, "
             "telefono, telefone, celular, movil, gsm, telefoon, puhelin, "
             "телефон, 电话, 電話", "D"),
    _concept("ip", _I, "an IP address", "ip, ip address, ip addr, ipv4, ipv6, client ip", "O"),
    _concept("url", _I, "a web address", "url, uri, website, homepage, web, webseite, link", "N"),
    _concept("national_id", _I, "a national identity number",
             "ssn, social security, social security number, nin, nino, nhs number, sin, bsn, dni, "
             "nie, nif, cpf, pesel, aadhaar, aadhar, personnummer, steuer id, tax id, taxpayer, "
             "passport, reisepass, passeport, pasaporte, passaporto, national id, identity number, "
             "id card, ausweis, ausweisnummer, sozialversicherungsnummer, svnr, numero securite, "
             "codice fiscale, curp, rfc, hetu, egn, rodne cislo, 身份证", "G"),
    _concept("insurance_id", _I, "a health plan number",
             "beneficiary, member id, member number, subscriber id, policy number, policy no, "
             "kvnr, versichertennummer, versicherungsnummer, medicare number, medicaid number, "
             "insurance number, insurance id, health plan id, health plan number, hicn, mbi", "I"),
    _concept("record_id", _I, "a number of a person's record",
             "mrn, medical record, patient id, patientid, patient number, patient nbr, patient no, "
             "patient nr, patientennummer, patienten id, chart number, person id, personid, pid, "
             "client id, customer id, customer number, kundennummer, member, user id, userid, "
             "employee id, employee number, personalnummer, staff id, student id, "
             "matrikelnummer, respondent id, subject id, participant id, case id, case number, "
             "encounter id, visit id, fallnummer, admission id, hadm id, stay id, numero patient, "
             "id paciente, numero cliente, id cliente, id client, codigo paciente", "H"),
    _concept("account", _I, "an account number",
             "account, account number, acct, iban, konto, kontonummer, compte, cuenta, conto, "
             "rekening, rekeningnummer", "J"),
    _concept("card", _I, "a card number",
             "card number, credit card, debit card, cardno, kreditkarte, carte bancaire, tarjeta, "
             "carta di credito, pan", "J"),
    _concept("licence", _I, "a certificate or licence number",
             "license number, licence number, licence no, license no, certificate number, npi, "
             "dea number, fuhrerschein, permis de conduire, driving licence, drivers license", "K"),
    _concept("vehicle", _I, "a vehicle number",
             "vin, license plate, licence plate, plate, plate number, kennzeichen, "
             "immatriculation, matricula, targa, kenteken, rejestracja, chassis", "L"),
    _concept("device", _I, "a device number",
             "imei, imsi, mac, mac address, serial, serial number, seriennummer, device id, "
             "deviceid, udid, idfa, gaid, advertising id, cookie, cookie id, android id", "M"),
    _concept("biometric", _I, "a biometric identifier",
             "fingerprint, voiceprint, retina, iris scan, face id, biometric, fingerabdruck", "P"),
    _concept("photo", _I, "a photograph",
             "photo, photograph, picture, foto, bild, portrait, selfie", "Q"),
    _concept("login", _I, "a user name",
             "username, user name, login, screen name, nickname, handle, benutzername, usuario, "
             "utilisateur, twitter, facebook, instagram", "R"),
    _concept("birth", _Q, "a date of birth",
             "birth, birthday, birthdate, dob, date of birth, year of birth, birth year, born, "
             "geburt, geburtsdatum, geburtstag, geburtsjahr, naissance, date naissance, "
             "nacimiento, fecha nacimiento, nascita, nascimento, data nascita, geboortedatum, "
             "data urodzenia, urodzenia, fodselsdato, fodelsedatum, "
             "syntymaaika, 生年月日, 出生日期",
             "C"),
    _concept("death", _Q, "a date of death",
             "death, died, dod, date of death, death date, todesdatum, deces, fallecimiento, morte",
             "C"),
    _concept("age", _Q, "an age",
             "age, ages, alter, edad, eta, idade, leeftijd, wiek, alder, ika, age group, age band, "
             "agegroup, altersgruppe, возраст, 年龄, 年齢", "C"),
    _concept("zip", _Q, "a postal code",
             "zip, zipcode, zip code, postal, postal code, postcode, post code, plz, postleitzahl, "
             "code postal, codigo postal, cap, cep, kod pocztowy, "
             "postnummer, postinumero, 郵便番号",
             "B"),
    _concept("geo", _Q, "a position on the map",
             "latitude, longitude, lat, lon, lng, long, coordinates, coordinate, gps, geo, "
             "geocode, geolocation, x coord, y coord, breitengrad, langengrad, latitud, longitud",
             "B"),
    _concept("address", _I, "an address",
             "address, street, addr, adresse, anschrift, strasse, "
             "direccion, calle, indirizzo, via, "
             "endereco, rua, adres, straat, ulica, adress, gata, osoite, адрес, 地址, 住所", "B"),
    _concept("state", _Q, "a state or country",
             "state, province, bundesland, estado, provincia, country, nation, nationality, land, "
             "staat, pays, nationalite, pais, nacionalidad, paese, nazionalita, cittadinanza, "
             "nacionalidade, nationaliteit, kraj, citizenship, native country, birth country, "
             "staatsangehorigkeit, continent, страна, 国籍, 国家"),
    _concept("place", _Q, "a place",
             "city, town, village, county, district, region, municipality, location, "
             "neighborhood, neighbourhood, borough, suburb, parish, ward, precinct, census tract, "
             "tract, block, area, metro, ort, stadt, gemeinde, wohnort, kreis, landkreis, bezirk, "
             "ville, commune, departement, quartier, ciudad, municipio, barrio, citta, comune, "
             "cidade, bairro, stad, gemeente, miasto, gmina, powiat, kommun, birthplace, "
             "place of birth, geburtsort, hometown, город, 城市, 市", "B"),
    _concept("sex", _Q, "sex or gender",
             "sex, gender, geschlecht, sexe, sexo, genero, sesso, genere, geslacht, plec, kon, "
             "sukupuoli, пол, 性别, 性別"),
    _concept("belief", _S, "religion, politics or sexual life",
             "religion, religious, faith, konfession, political, party, politics, partei, union, "
             "trade union, orientation, sexual orientation, sexuality, religione, religiao"),
    _concept("origin", _Q, "ethnic origin or language",
             "race, ethnicity, ethnic, ethnie, etnia, herkunft, raza, raca, origin, ancestry, "
             "language, mother tongue, sprache, muttersprache, langue, "
             "idioma, lingua, taal, tribe, "
             "caste, immigration, migration, visa"),
    _concept("family", _Q, "family or household",
             "marital, marital status, married, civil status, familienstand, etat civil, "
             "estado civil, stato civile, burgerlijke staat, stan cywilny, civilstand, household, "
             "haushalt, menage, hogar, famiglia, relationship, children, kids, kinder, enfants, "
             "hijos, figli, dependents, spouse, parent, siblings, family, familie, famille"),
    _concept("work", _Q, "education or work",
             "education, education num, schooling, degree, school, university, bildung, abschluss, "
             "diplome, educacion, istruzione, escolaridade, opleiding, wyksztalcenie, utbildning, "
             "occupation, job, job title, profession, employer, company, employment, workclass, "
             "work class, position, beruf, arbeitgeber, emploi, metier, "
             "trabajo, ocupacion, empleo, "
             "lavoro, professione, profissao, beroep, zawod, yrke, ammatti, industry, sector, "
             "hours per week, military, veteran, 职业, 職業"),
    _concept("body", _Q, "the body",
             "height, weight, bmi, eye, eye color, hair, blood type, blood group, blutgruppe, "
             "grosse, gewicht, groesse, taille, poids, altura, peso, altezza, handedness"),
    _concept("health", _S, "health",
             "diagnosis, diagnoses, diagnose, diagnoza, diag, disease, illness, condition, "
             "comorbidity, icd, icd9, icd10, drg, symptom, symptoms, "
             "treatment, therapy, procedure, "
             "procedures, medication, medications, medicine, drug, drugs, prescription, dose, lab, "
             "serum, glucose, glu, hba1c, a1cresult, a1c, cholesterol, "
             "blood pressure, pulse, heart "
             "rate, hiv, aids, cancer, tumor, tumour, diabetes, diabetesmed, asthma, mental, "
             "psychiatric, depression, suicide, disability, handicap, pregnant, pregnancy, "
             "abortion, vaccination, vaccine, allergy, smoker, smoking, alcohol, mortality, "
             "krankheit, erkrankung, befund, medikament, behandlung, behinderung, krankenstand, "
             "maladie, traitement, medicament, grossesse, enfermedad, tratamiento, medicamento, "
             "diagnostico, malattia, cura, farmaco, doenca, ziekte, "
             "behandeling, choroba, leczenie, "
             "sjukdom, diagnos, genotype, gene, mutation, dna, snp, outcome, prognosis, cd4"),
    _concept("money", _S, "income or money",
             "income, salary, wage, wages, pay, earnings, capital gain, capital loss, tax, debt, "
             "loan, mortgage, credit score, credit limit, rent, cost, costs, charge, charges, "
             "amount, balance, price, payment, revenue, wealth, assets, benefit, welfare, pension, "
             "gehalt, lohn, einkommen, verdienst, schulden, kosten, betrag, salaire, revenu, "
             "dette, montant, sueldo, salario, ingreso, ingresos, deuda, coste, costo, stipendio, "
             "reddito, debito, renda, salario, inkomen, loon, schuld, "
             "dochod, pensja, inkomst, lon, "
             "salary class, fare, purchase, spending"),
    _concept("judgement", _S, "a judgement or an offence",
             "grade, mark, gpa, exam, score, rating, performance, evaluation, note, zensur, "
             "crime, criminal, conviction, offence, offense, arrest, sentence, prison, violation, "
             "straftat, urteil, delit, condamnation, delito, reato, "
             "password, passwort, pin, secret"),
    _concept("stay", _Q, "a stay or visit others may know of",
             "admission, admitted, admit, discharge, visit, appointment, arrival, departure, stay, "
             "length of stay, los, time in hospital, aufnahme, entlassung, verweildauer, ingreso "
             "hospital, readmitted, inspection, event, insurance, payer, payor, payer code, "
             "versicherung, krankenkasse, assurance, seguro, assicurazione"),
    _concept("text", _I, "free text",
             "comment, comments, note text, notes, remark, remarks, free text, freetext, text, "
             "message, feedback, narrative, bemerkung, bemerkungen, kommentar, anmerkung, notiz, "
             "commentaire, remarque, comentario, observaciones, osservazioni, opmerking, uwagi, "
             "anamnesis, letter, arztbrief", "R"),
    _concept("name", _I, "a name",
             "name, names, fullname, surname, lastname, last name, firstname, first name, "
             "given name, middle name, family name, maiden name, forename, initials, alias, "
             "vorname, nachname, familienname, nom, prenom, nombre, nombres, apellido, apellidos, "
             "nome, cognome, sobrenome, naam, voornaam, achternaam, imie, nazwisko, namn, fornamn, "
             "efternamn, navn, fornavn, etternavn, nimi, sukunimi, jmeno, prijmeni, isim, soyad, "
             "имя, фамилия, 姓名, 氏名, 名前, contact, owner, patient name, doctor, physician, "
             "arzt, medecin", "A"),
    _concept("id", _I, "an identifier",
             "id, ids, uid, uuid, guid, key, nbr, identifier, identifiant, identificador, "
             "identificativo, kennung, schlussel, token, hash, ref, reference, record number, "
             "record no, rowid, row id, index, sequence, barcode, laufnummer, aktenzeichen, "
             "numero, nummer, number id", "R"),
)  # fmt: skip

CONCEPTS: Mapping[str, Concept] = {concept.key: concept for concept in _ALL}

# Stems of international nonproprietary names (WHO): a column called after a drug.
_DRUG = re.compile(
    r"(.*(formin|gliptin|glipton|glitazone|glinide|gliflozin|tide|bose|statin|pril|sartan|olol|"
    r"dipine|prazole|mycin|micin|cillin|cycline|floxacin|azepam|azolam|oxetine|triptan|vir|parin|"
    r"profen|codone|orphine|olone|asone|butamide|propamide|azamide|hexamide|glycol|glitol|mab|nib)"
    r"|gl[iy]\w+ide|.*insulin.*|examide|warfarin|aspirin)"
)
_MEDICINE = CONCEPTS["health"]


def words_of(header: str) -> list[str]:
    """Split a header into plain words: snake_case, camelCase, accents and digits undone.

    Example:
        >>> words_of("patientID"), words_of("Geburts-Datum 2"), words_of("Prénom")
        (['patient', 'id'], ['geburts', 'datum'], ['prenom'])
    """
    plain = unicodedata.normalize("NFKD", header.replace("ß", "ss"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = unicodedata.normalize("NFC", plain)
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return [word for word in re.split(r"[\W_\d]+", plain.lower()) if word]


def concept_of(header: str) -> Concept | None:
    """Return what a header says its column is about; None when it says nothing known.

    Longer expressions win over single words, so "birth country" is a country.

    Example:
        >>> concept_of("business_phone_number").key, concept_of("capital-gain").key
        ('phone', 'money')
        >>> concept_of("zzz") is None
        True
    """
    words = words_of(header)
    for length in range(min(len(words), 4), 0, -1):
        phrases = {
            joint.join(words[i : i + length])
            for i in range(len(words) - length + 1)
            for joint in (" ", "")
        }
        whole = re.sub(r"[\W_]+", "", header.lower())
        if length == 1:
            phrases.add(whole)
        for concept in _ALL:
            if phrases & concept.words:
                return concept
    if words and any(_DRUG.fullmatch(word) and len(word) > 5 for word in words):
        return _MEDICINE
    return None


_PEOPLE = (
    "patient person client customer user member employee student subject participant respondent "
    "patienten kunde kunden mitarbeiter schuler benutzer paciente cliente empleado alumno "
    "utente assistito dipendente studente funcionario aluno pacjent klient klant medewerker "
    "patiente salarie eleve"
)
_PERSON = frozenset(_PEOPLE.split())


def names_person(header: str) -> bool:
    """Say whether a header speaks of a person (patient, customer, employee …)."""
    return any(word in _PERSON for word in words_of(header))
