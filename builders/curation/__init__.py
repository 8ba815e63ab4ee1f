"""Curation of image folders: quality, duplicates in every disguise, and what leaks across splits, labels and sources.

pictures -> quality                          size, blur, exposure, text laid over
         -> hashes -> neighbours             perceptual hashes of whole and parts; exact join within a distance
                      -> verification        keypoints, geometry and pixels decide on each candidate pair
                         -> duplicates       clusters, and which copy of each to keep
                            -> leaks         clusters that cross splits, labels or sources
curate                                       all of it for a folder, remembered in an index; report writes the page
"""
