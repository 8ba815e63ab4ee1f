"""The bundled sample of 3MDBench: made-up photos of all 34 diagnoses, drawn in code, with planted faults to be found.

`looks.csv` says what each diagnosis looks like; `planted.csv` lists the faults: copies in disguise, one photo under two
diagnoses, blur, lettering, broken files, labels and licences that keep a photo out. Nothing in it is of a patient: it
is a stand-in, and CC0.
"""
