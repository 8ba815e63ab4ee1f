"""MedConceal: a patient who reserves concerns, and clinicians who try to surface and resolve them.

    record                what is played and measured: Episode and its parts
    untrusted, words      texts of others made fit for a prompt; content words of a text
    rubric, rules         a clinician's turn -> ten features and an intent, by model or by rules
    acts                  what a turn does, by the grammar of its sentences and tables of words
    probes                turns in the benchmark's own labels, or addressed to the machine
    machine               features -> hidden, revealed, addressed; pure
    policy                its constants: `PAPER` (Equations 2-8) and `BEDSIDE` (ours)
    simulation            the shape of a policy: what clinicians of a given quality get out of it
    leaks                 whether a reply gives away what is still hidden
    patient               state -> words, by model or by `patient_template`; never holds a text that is still hidden
    clinician             chart -> words and findings; `clinician_scripted` and `clinician_attackers` need no model
    game, transcripts     the two tasks, and dialogues of people, as a `baselines.dialogue.game.Game`
    labelling, fitting    labelled turns, and weights of the policy from them
    acceptance            the tests that a policy must pass
    validity              the shares of a run that must stay small, with limits; above one it is invalid

What is played stands above; `matching`, `judge`, `metrics` and what they need score the episodes afterwards.
"""
