"""Types of recordings that models transcribe, with the file names that tell providers the type."""

FILENAMES_BY_TYPE = {
    "audio/wav": "audio.wav",
    "audio/mpeg": "audio.mp3",
    "audio/webm": "audio.webm",
    "audio/ogg": "audio.ogg",
    "audio/flac": "audio.flac",
    "audio/mp4": "audio.m4a",
    "video/mp4": "audio.mp4",
}
