"""What recordings are heard, and what the process that decodes them answers."""

from collections.abc import Mapping

LARGEST_BYTES = 25 * 1024 * 1024
LONGEST_SECONDS = 600
SAMPLE_RATE = 16_000

# How the decoder says no; any other code but 0 is a fault of ours, a negative one the signal that ended it.
UNREADABLE, TOO_LONG = 3, 4

# What a recording is by its own bytes, and the one demuxer that may look at it.
DEMUXERS: Mapping[str, str] = {
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/webm": "matroska",
    "audio/ogg": "ogg",
    "audio/mp4": "mov",
    # Phones and browsers record sound alone under these names too.
    "video/mp4": "mov",
    "video/x-matroska": "matroska",
    "audio/flac": "flac",
}
# What recorders of browsers, phones and computers write; FFmpeg has hundreds more that nobody looks after.
CODECS = (
    *("mp3float", "mp3", "opus", "libopus", "vorbis", "aac", "alac", "flac"),
    *("pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_u8", "pcm_f32le", "pcm_f64le", "pcm_alaw", "pcm_mulaw"),
)
