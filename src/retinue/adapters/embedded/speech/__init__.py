"""Speech without a key: speech to text with Whisper, text to speech with a small English voice.

`Transcriber(models_folder).transcribe(audio, …)` and `SpeechSynthesizer().speak(text, …)` are the server's
side of two child processes, which start with the first call. Close both when the server stops.
"""
