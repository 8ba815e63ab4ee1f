"""3MDBench consultations (Sections 3 and 4): a doctor model diagnoses a patient model, an assessor model judges both.

record      cases in, consultations out
cases       rows of the corpus -> cases
settings    the doctor's settings
protocol    our rules and those of the authors' code: decoding, caps, endings, attempts
prompts     texts in files, and the facets of the patient's temperament
cleaning    what an untrusted model said -> text that can be sent on
ending      whether a patient's BREAK ends the dialogue
game        the dialogue as a `baselines.dialogue.game.Game`
assessor    asked until its answer can be read: which diagnosis the doctor gave (naming), and its scores of the eight
            Mini-CEX items (reading); recheck: how far they can be moved
agents      scripted doctors, and with agents_* patients and assessors by name: all stand-ins
diagnosis   names -> F1; tables, differences, names, physicians: what is reported
selection   choosing patient and assessor (Tables 3 and 4): selection_*
"""
