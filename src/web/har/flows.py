"""Runs inside mitmdump, as `rea` started it: writes the states of the flows in the
file `flows` beside this script as JSON into `reply`, and ends the process.

Nothing is migrated and no flow object is made: the states are what mitmproxy wrote.
The reply is {"version": ..., "flows": [{"offset", "bytes", "state", "binary"}]}, or
{"version": ..., "error": {"kind", "offset", "pointer", "what"}} where the file is
wrong. In a state, bytes are text where they are valid UTF-8, else null; `binary` holds
them as [place, base64], where places count the values that are no lists or objects.
"""

import base64
import errno
import json
import os
import re

from mitmproxy import version

HERE = os.path.dirname(os.path.abspath(__file__))
# Lists and objects inside a state's own.
NESTING = 64
# How the process ends where there is no reply.
NO_SPACE, NO_MEMORY = 75, 76

LENGTH = re.compile(rb"(0|[1-9][0-9]{0,11}):")
INTEGER = re.compile(rb"-?(0|[1-9][0-9]*)")
FLOAT = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)")


class Wrong(Exception):
    """The file is no flow file, or one that is not taken."""

    def __init__(self, kind, offset, pointer, what):
        super().__init__(what)
        self.error = {"kind": kind, "offset": offset, "pointer": pointer, "what": what}


class States:
    def __init__(self, data, out):
        self.data = data
        self.out = out
        self.pointer = []
        self.places = 0
        self.binary = []

    def wrong(self, offset, what, kind="format"):
        names = (name.replace("~", "~0").replace("/", "~1") for name in self.pointer)
        pointer = "".join("/" + name for name in names)
        # What goes into a message is short.
        return Wrong(kind, offset, pointer if len(pointer) <= 1024 else "", what)

    def head(self, at, end):
        """Where the content of the element at `at` starts, where it ends, its type."""
        found = LENGTH.match(self.data, at, min(end, at + 13))
        if not found:
            raise self.wrong(at, "has no length where an element must start")
        start = found.end()
        stop = start + int(found[1])
        if stop >= end:
            raise self.wrong(at, "is cut: an element is longer than what holds it")
        return start, stop, self.data[stop : stop + 1]

    def value(self, at, end, depth):
        """Writes the element at `at` and says where the next one is."""
        start, stop, kind = self.head(at, end)
        if kind in b"]}" and depth > NESTING:
            raise self.wrong(at, "", "depth")
        if kind == b"}":
            self.members(start, stop, depth)
            return stop + 1
        if kind == b"]":
            self.elements(start, stop, depth)
            return stop + 1
        content = self.data[start:stop]
        if kind == b",":
            self.binary.append((self.places, start, stop))
            try:
                text = json.dumps(content.decode())
            except UnicodeDecodeError:
                text = "null"
        elif kind == b";":
            text = json.dumps(self.text(at, content))
        elif kind == b"#" and INTEGER.fullmatch(content) or kind == b"^" and FLOAT.fullmatch(content):
            text = content.decode()
        elif kind == b"!" and content in (b"true", b"false"):
            text = content.decode()
        elif kind == b"~" and not content:
            text = "null"
        elif kind in b"#^!~":
            raise self.wrong(at, "is a value that JSON does not have")
        else:
            raise self.wrong(at, "is of an unknown type")
        self.places += 1
        self.out.write(text)
        return stop + 1

    def text(self, at, content):
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise self.wrong(at, "is text and no valid UTF-8") from None

    def members(self, at, end, depth):
        self.out.write("{")
        names = set()
        while at < end:
            start, stop, kind = self.head(at, end)
            if kind not in b";,":
                raise self.wrong(at, "has a name that is no text")
            name = self.text(at, self.data[start:stop])
            if name in names:
                raise self.wrong(at, "has the same name twice")
            self.out.write(("," if names else "") + json.dumps(name) + ":")
            names.add(name)
            if stop + 1 >= end:
                raise self.wrong(at, "is cut: a name has no value")
            self.pointer.append(name)
            at = self.value(stop + 1, end, depth + 1)
            self.pointer.pop()
        self.out.write("}")

    def elements(self, at, end, depth):
        self.out.write("[")
        count = 0
        while at < end:
            self.out.write("," if count else "")
            self.pointer.append(str(count))
            at = self.value(at, end, depth + 1)
            self.pointer.pop()
            count += 1
        self.out.write("]")

    def flows(self):
        at, end = 0, len(self.data)
        self.out.write('{"version":%s,"flows":[' % json.dumps(version.VERSION))
        while at < end:
            self.places, self.binary, self.pointer = 0, [], []
            if self.head(at, end)[2] != b"}":
                raise self.wrong(at, "is no flow: it is no object")
            self.out.write(("," if at else "") + '{"offset":%d,"state":' % at)
            after = self.value(at, end, 0)
            self.out.write(',"bytes":%d,"binary":[' % (after - at))
            for number, (place, start, stop) in enumerate(self.binary):
                content = base64.b64encode(self.data[start:stop]).decode()
                self.out.write(('%s[%d,"' % ("," if number else "", place)) + content + '"]')
            self.out.write("]}")
            at = after
        self.out.write("]}")


def main():
    with open(os.path.join(HERE, "reply"), "w", encoding="ascii") as out:
        if version.VERSION != "12.2.3":
            json.dump({"version": version.VERSION}, out)
            return
        with open(os.path.join(HERE, "flows"), "rb") as file:
            data = file.read()
        try:
            States(data, out).flows()
        except Wrong as wrong:
            out.seek(0)
            out.truncate()
            json.dump({"version": version.VERSION, "error": wrong.error}, out)


# mitmdump takes what a script raises for a message: the process must not go on.
try:
    main()
except MemoryError:
    os._exit(NO_MEMORY)
except OSError as error:
    os._exit(NO_SPACE if error.errno == errno.EFBIG else 1)
except BaseException:
    import traceback

    traceback.print_exc()
    os._exit(1)
os._exit(0)
