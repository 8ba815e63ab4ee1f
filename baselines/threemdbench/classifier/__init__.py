"""The diagnostic image classifier of 3MDBench (Appendix E): trained on the train split; its top three names are cues.

bedside run classifier runs/3mdbench --model tf_efficientnetv2_xl.in21k_ft_in1k -o runs/cnn
bedside run classifier official --predict --weights runs/cnn --trained-on runs/3mdbench -o runs/cues
"""
