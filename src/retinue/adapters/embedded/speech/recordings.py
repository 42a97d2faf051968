"""Supported recordings, and the exit codes of the process that decodes them."""

from collections.abc import Mapping

MAX_RECORDING_BYTES = 25 * 1024 * 1024
MAX_RECORDING_SECONDS = 600
SAMPLE_RATE = 16_000

# The decoder's exit codes; any other nonzero code is a bug, a negative one the signal that ended it.
EXIT_UNREADABLE, EXIT_TOO_LONG = 3, 4

# Media types, detected from the content, and the only demuxer that may read each.
DEMUXERS: Mapping[str, str] = {
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/webm": "matroska",
    "audio/ogg": "ogg",
    "audio/mp4": "mov",
    # Phones and browsers also record audio under these names.
    "video/mp4": "mov",
    "video/x-matroska": "matroska",
    "audio/flac": "flac",
}
# The codecs of browsers, phones and computers; FFmpeg has hundreds of others that are poorly maintained.
CODECS = (
    *("mp3float", "mp3", "opus", "libopus", "vorbis", "aac", "alac", "flac"),
    *("pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_u8", "pcm_f32le", "pcm_f64le", "pcm_alaw", "pcm_mulaw"),
)
