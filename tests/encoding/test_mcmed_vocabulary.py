"""The MC-MED vocabulary files names where a clinician would look for them."""

from __future__ import annotations

import polars as pl
import pytest

from edsim.encoding.vocabulary import Vocabulary, load

MEDICINES = {
    "morphine 4 mg/mL injection 4 mg": "opioid",
    "HYDROmorphone (DILAUDID) injection 0.5 mg": "opioid",
    "HYDROcodone-acetaminophen (NORCO) 5-325 mg per tablet 1 tablet": "opioid",
    "oxyCODONE (ROXICODONE) tablet 5 mg": "opioid",
    "fentaNYL (SUBLIMAZE) injection 50 mcg": "opioid",
    "acetaminophen (TYLENOL) tablet 650 mg": "other analgesic",
    "ketorolac (TORADOL) injection 15 mg": "other analgesic",
    "ibuprofen (MOTRIN) tablet 600 mg": "other analgesic",
    "methocarbamol (ROBAXIN) tablet 750 mg": "other analgesic",
    "ondansetron ODT (ZOFRAN-ODT) disintegrating tablet 4 mg": "antiemetic",
    "metoclopramide (REGLAN) injection 10 mg": "antiemetic",
    "prochlorperazine (COMPAZINE) injection 10 mg": "antiemetic",
    "cefTRIAXone (ROCEPHIN) 1 g in sodium chloride 0.9 % 50 mL IVPB": "anti-infective",
    "vancomycin (VANCOCIN) 1,500 mg in dextrose 5 % 500 mL IVPB": "anti-infective",
    "piperacillin-tazobactam (ZOSYN) 3.375 g IVPB": "anti-infective",
    "amoxicillin-pot clavulanate (AUGMENTIN) 875-125 mg tablet": "anti-infective",
    "acyclovir (ZOVIRAX) 700 mg in dextrose 5 % 100 mL IVPB": "anti-infective",
    "metroNIDAZOLE (FLAGYL) 500 mg/100 mL IVPB": "anti-infective",
    "penicillin V potassium (VEETID) tablet 500 mg": "anti-infective",
    "heparin 25,000 unit in dextrose 5 % 250 mL infusion": "antithrombotic or haemostatic",
    "enoxaparin (LOVENOX) injection 80 mg": "antithrombotic or haemostatic",
    "aspirin chewable tablet 324 mg": "antithrombotic or haemostatic",
    "phytonadione (vitamin K1) 10 mg IVPB": "antithrombotic or haemostatic",
    "tranexamic acid (CYKLOKAPRON) 1 g IVPB": "antithrombotic or haemostatic",
    "metoprolol tartrate (LOPRESSOR) injection 5 mg": "cardiovascular",
    "norepinephrine (LEVOPHED) 4 mg in dextrose 5 % 250 mL infusion": "cardiovascular",
    "dilTIAZem (CARDIZEM) injection 20 mg": "cardiovascular",
    "furosemide (LASIX) injection 40 mg": "cardiovascular",
    "losartan potassium (COZAAR) tablet 50 mg": "cardiovascular",
    "nitroglycerin (NITROSTAT) SL tablet 0.4 mg": "cardiovascular",
    "EPINEPHrine 1 mg/mL injection 0.3 mg": "cardiovascular",
    "adenosine (ADENOCARD) injection 6 mg": "cardiovascular",
    "albuterol 2.5 mg/3 mL (0.083 %) nebulizer solution 2.5 mg": "respiratory and allergy",
    "ipratropium-albuterol (DUONEB) nebulizer solution 3 mL": "respiratory and allergy",
    "racepinephrine (S2) 2.25 % nebulizer solution 0.5 mL": "respiratory and allergy",
    "diphenhydrAMINE (BENADRYL) injection 25 mg": "respiratory and allergy",
    "LORazepam (ATIVAN) injection 1 mg": "sedative and nervous system",
    "haloperidol lactate (HALDOL) injection 5 mg": "sedative and nervous system",
    "levETIRAcetam (KEPPRA) 1,000 mg IVPB": "sedative and nervous system",
    "propofol (DIPRIVAN) infusion": "sedative and nervous system",
    "ketamine (KETALAR) injection 100 mg": "sedative and nervous system",
    "insulin regular (HUMULIN R) 100 unit in sodium chloride 0.9 % 100 mL": "endocrine and steroid",
    "dexamethasone (DECADRON) injection 10 mg": "endocrine and steroid",
    "predniSONE (DELTASONE) tablet 40 mg": "endocrine and steroid",
    "glucagon injection 1 mg": "endocrine and steroid",
    "famotidine (PEPCID) injection 20 mg": "gastrointestinal",
    "pantoprazole (PROTONIX) injection 40 mg": "gastrointestinal",
    "alum-mag hydroxide-simeth (MAALOX) 30 mL suspension": "gastrointestinal",
    "polyethylene glycol (MIRALAX) packet 17 g": "gastrointestinal",
    "diphenoxylate-atropine (LOMOTIL) tablet": "gastrointestinal",
    "sodium chloride 0.9 % bolus 1,000 mL": "fluid, electrolyte or vitamin",
    "lactated Ringer's bolus 1,000 mL": "fluid, electrolyte or vitamin",
    "potassium chloride (KLOR-CON) tablet 40 mEq": "fluid, electrolyte or vitamin",
    "magnesium sulfate 2 g/50 mL IVPB": "fluid, electrolyte or vitamin",
    "dextrose 50 % injection 25 g": "fluid, electrolyte or vitamin",
    "thiamine (VITAMIN B-1) injection 100 mg": "fluid, electrolyte or vitamin",
    "lidocaine-EPINEPHrine 1 %-1:100,000 injection 10 mL": "local anaesthetic",
    "lidocaine 5 % patch": "local anaesthetic",
    "iohexol (OMNIPAQUE) 350 mg iodine/mL injection 100 mL": "contrast agent",
    "gadobenate dimeglumine (MULTIHANCE) injection 15 mL": "contrast agent",
    "tetanus-diphtheria-acell pertussis (BOOSTRIX) injection 0.5 mL": "other",
    "naloxone (NARCAN) injection 0.4 mg": "other",
    "tamsulosin (FLOMAX) capsule 0.4 mg": "other",
}

PANELS = {
    "CBC with Differential (CBCD)": "blood count",
    "Metabolic Panel, Comprehensive (METC)": "chemistry",
    "Hemoglobin A1c": "chemistry",
    "Magnesium, Serum": "chemistry",
    "Lipase": "liver and pancreas",
    "Hepatic Function Panel A": "liver and pancreas",
    "Troponin I, High Sensitivity": "cardiac markers",
    "NT-proBNP": "cardiac markers",
    "Prothrombin Time (PT/INR)": "coagulation",
    "D-Dimer": "coagulation",
    "Lactate, Whole Blood": "blood gas and lactate",
    "Blood Gases, Venous": "blood gas and lactate",
    "Glucose by Meter": "glucose by meter",
    "Urinalysis with Microscopic": "urine",
    "Sodium, Urine": "urine",
    "Urine Culture": "microbiology and virology",
    "Blood Culture (Aerobic & Anaerobic)": "microbiology and virology",
    "SARS-CoV-2 RNA": "microbiology and virology",
    "Respiratory Virus Panel PCR": "microbiology and virology",
    "Pregnancy Test, Urine": "pregnancy",
    "Beta HCG, Quantitative": "pregnancy",
    "Toxicology Screen, Urine": "drugs and toxicology",
    "Ethanol": "drugs and toxicology",
    "Type and Screen": "blood bank",
    "TSH with Reflex": "other",
}


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return load("mcmed").resolve()


def token(vocabulary: Vocabulary, activity: str, detail: str | None, flag: str | None) -> str:
    kind = {"activity": [activity], "detail": [detail], "flag": [flag]}
    kinds = pl.DataFrame(kind, schema=dict.fromkeys(kind, pl.String))
    return vocabulary.tokens[vocabulary.assign(kinds)["token"][0]]


@pytest.mark.parametrize(("name", "expected"), MEDICINES.items())
def test_a_medicine_is_in_the_class_a_clinician_expects(
    vocabulary: Vocabulary, name: str, expected: str
) -> None:
    assert token(vocabulary, "Medication given", name, None) == f"Medicine given: {expected}"


@pytest.mark.parametrize(("name", "expected"), PANELS.items())
@pytest.mark.parametrize("flag", ["normal", "abnormal"])
def test_a_result_is_under_its_panel_normal_or_not(
    vocabulary: Vocabulary, name: str, expected: str, flag: str
) -> None:
    assert token(vocabulary, "Lab result", name, flag) == f"Laboratory: {expected}, {flag}"


@pytest.mark.parametrize(
    ("study", "expected"),
    [
        ("XR CHEST 1 VIEW", "radiograph"),
        ("CT HEAD WO IV CONTRAST", "computed tomography"),
        ("CTA CHEST W IV CONTRAST", "computed tomography"),
        ("US ABDOMEN LIMITED", "ultrasound"),
        ("MRI BRAIN WO IV CONTRAST", "magnetic resonance"),
        ("NM LUNG PERFUSION", "other"),
        (None, "other"),
    ],
)
def test_an_image_is_under_its_method(
    vocabulary: Vocabulary, study: str | None, expected: str
) -> None:
    assert token(vocabulary, "Imaging result", study, None) == f"Imaging result: {expected}"


def test_what_is_not_recorded_has_a_token_too(vocabulary: Vocabulary) -> None:
    assert token(vocabulary, "Triage", None, None) == "Triage: acuity not recorded"
    assert token(vocabulary, "Medication given", None, None) == "Medicine given: other"
    assert token(vocabulary, "Lab result", None, "abnormal") == "Laboratory: other, abnormal"
    assert token(vocabulary, "Departure", "Morgue", None) == "Departure: other"


def test_only_departures_are_discharges(vocabulary: Vocabulary) -> None:
    named = [n for n, t in enumerate(vocabulary.tokens) if t.startswith("Departure")]
    assert list(vocabulary.discharges) == named
    assert len(vocabulary) <= 71
