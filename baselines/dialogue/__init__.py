"""Simulated dialogues between chat models.

game         what a dialogue is: pure, knows no model and no framework; scripted agents, and how roles are sampled
playing      who answers in a game, what is replayed, what ends a case and what ends a run; cases without a framework
evaluation   many cases as a task of inspect_ai, with its log and viewer
provider     scripted agents as models of inspect_ai
run          a run in a folder: played, resumed, counted
played       reads what a run left
budget       what a run would cost, and a limit on it
hidden       what a case hides, found and removed
"""
