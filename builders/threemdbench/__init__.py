"""The builder of 3MDBench: clinical photos of 34 diagnoses, with complaints and temperaments."""
