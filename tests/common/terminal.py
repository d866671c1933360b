"""Runs a program on a terminal of its own and plays a person: argv[1] is a JSON list of steps.

["await", TEXT]   until the program has printed it (after what was awaited before)
["type", TEXT]    keys
["reply", [Q, A]] from now on the terminal answers the query Q with A, at once and without fingers
["do", CODE]      shell code that is run beside it, with the program's number as $PROGRAM
["unsaid", TEXT]  the program hasn't printed it up to what was awaited last, or up to its end; more may have come already
["rows", N]       no row up to what was awaited last, but for prompts, is longer than N columns, or holds more
                  than ASCII and our own signs
["ended", N]      the program ends within N seconds; prints "status N"
Whatever goes wrong is printed, with all that the program said.
"""
import json, os, pty, select, subprocess, sys, time

steps, argv = json.loads(sys.argv[1]), sys.argv[2:]
pid, master = pty.fork()
if pid == 0:
    os.execv(argv[0], argv)

said, seen, is_closed, typed = b"", 0, False, False
replies, replied = {}, {}


def listen(seconds):
    global said, is_closed
    if select.select([master], [], [], seconds)[0]:
        try:
            said += os.read(master, 65536)
            reply()
        except OSError:
            is_closed = True
            time.sleep(seconds)


def reply():
    for query, text in replies.items():
        count = said.count(query)
        for _ in range(replied.get(query, 0), count):
            os.write(master, text)
        replied[query] = count


def fail(why):
    print("failed: %s\n%s" % (why, said.decode(errors="replace")))
    os.kill(pid, 9)
    sys.exit(1)


for step, value in steps:
    if step == "await":
        end = time.monotonic() + 20
        while (at := said.find(value.encode(), seen)) < 0:
            if is_closed or time.monotonic() > end:
                fail("never said %r" % value)
            listen(0.05)
        seen = at + len(value)
    elif step == "type":
        if typed:
            time.sleep(0.15)  # A person's fingers; keys that come at once are one pending signal.
        typed = True
        os.write(master, value.encode())
    elif step == "do":
        subprocess.run(["sh", "-c", value], check=True, env=dict(os.environ, PROGRAM=str(pid)))
    elif step == "reply":
        query, text = (part.encode() for part in value)
        replies[query], replied[query] = text, said.count(query)
    elif step == "unsaid":
        if value.encode() in said[:seen]:
            fail("said %r" % value)
    elif step == "rows":
        for row in said[:seen].decode(errors="replace").splitlines():
            if row.endswith(("s)? ", "s)? no")):
                continue
            if len(row) > value or not all(c in "…→" or " " <= c <= "~" for c in row):
                fail("has the row %r" % row)
    elif step == "ended":
        end = time.monotonic() + value
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() > end:
                fail("still runs after %s seconds" % value)
            listen(0.05)
        seen = len(said)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print("status %d" % status)
