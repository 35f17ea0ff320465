"""What schemathesis is not told by the document: how an archive is written."""

import io
import zipfile

import schemathesis


@schemathesis.serializer("application/zip")
def archive(_context, value):
    """Half of what is made up becomes a file in an archive, the rest is sent as it is: no archive at all."""
    text = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    if len(text) % 2:
        return text
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("scenarios/made_up.yaml", text)
    return packed.getvalue()
