"""Simulated dialogues between chat models.

game         what a dialogue is: pure, knows no model and no framework
decoding     sampling settings of each role, where the command line overrides the game
playing      who answers in a game, what is replayed, what ends a case and what ends a run; cases without a framework
evaluation   many cases as a task of inspect_ai, with its log and viewer
provider     scripted agents as models of inspect_ai
lines        what scripted agents say, in a table beside their module
run          a run in a folder: played, resumed, counted
played       reads what a run left
"""
