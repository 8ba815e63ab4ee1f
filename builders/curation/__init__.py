"""Curation of photos: quality, duplicates in every disguise, and what leaks across splits, labels, groups and sources.

photo_sets, folders                          the photos of whatever a user names: data sets, releases, folders
pictures -> quality -> overlaid_text         size, blur, exposure; overlaid text
         -> erased_text                      the picture without that text, of which all below is made
         -> hashes -> neighbours             perceptual hashes of whole and parts; exact join within a distance
                      -> verification        keypoints, geometry and pixels decide on each candidate pair
                         -> seams            the panels of a collage
                         -> duplicates       clusters, and which copy of each to keep
curate                                       all of it for some files, remembered in an index, and what crosses splits,
                                             labels, groups, sources or sets
seen                                         which files show what files of another set show, pair by pair
output, report                               the table and the page of an audit

What the constants were chosen on:

verification, and what it builds on   copies made of one half of the trial photos; pairs of different hands on one rig
seams                                 two trial photos side by side, and lines across one
overlaid_text, motion blur            lines of text and moved cameras, made on two thirds of the trial photos
erased_text                           lines of text, marks and pages, made of 36 of the trial photos
neighbours (how many chunks)          times at 30,000 to a million random hashes
quality, calibration                  conventions (224 pixels, 2.5 deviations, 2 % of the area), chosen on no data

Nothing was chosen on the known duplicates of HAM10000, on natural near duplicates of throat photos, or on the fresh
copies that scripts/bench/duplicates.py makes.
"""
