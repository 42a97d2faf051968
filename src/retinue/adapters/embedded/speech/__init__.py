"""Speech without any key: recordings to text with Whisper, text to sound with a small English voice.

`Transcriber(models_folder).transcribe(audio, …)` and `Speaker().speak(text, …)` are the server's side of two
child processes, started with the first call; close both when the server stops.
"""
