"""Processes outside a run, in a session of their own with it, that tell which signals reach them.

argv[1] is a JSON object: "argv", the program with its arguments, in which @V, @W, @G and @L are filled in and which gets
its own process id as a last argument; "stdin": null, "pidfd" (of V), "socket" (it sends pidfds of V, and signals V), "owned" (it would
signal V by 50, if it signalled), "silent" (one to `near`) or "terminal" (the session's, with the launcher's group in the foreground; `near` is its other end); "after": Python code that
runs here once the program has begun, which may read from `program.stdout`.
  V has a group of its own, and a second thread W. G is in the launcher's group, as L is, which leads the session and
  is the parent of the program.
All of them block all signals, so whatever was sent is pending. Prints what the program prints, and at last a line
{"status": N, "outside": {"V": [signals], …}}, where 0 is a process that has ended and -1 one that is stopped.
"""
import fcntl, json, os, signal, socket, subprocess, sys, termios, threading, time

ALL = set(range(1, 65)) - {32, 33}
task = json.loads(sys.argv[1])
os.setsid()
signal.pthread_sigmask(signal.SIG_BLOCK, ALL)


def outsider(begin):
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        begin()
        thread = threading.Thread(target=time.sleep, args=(300,), daemon=True)
        thread.start()
        os.write(writer, b"%d" % thread.native_id)
        time.sleep(300)
        os._exit(0)
    return pid, int(os.read(reader, 20))


def pending(pid):
    """The signals that wait for a process or one of its threads."""
    found = set()
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/status" % (pid, thread)) as file:
                fields = dict(line.split(":", 1) for line in file)
            if fields["State"].strip()[0] in "ZX":
                return [0]
            if fields["State"].strip()[0] in "Tt":
                found.add(-1)
            for field in "SigPnd", "ShdPnd":
                mask = int(fields[field], 16)
                found |= {n for n in ALL if mask >> n - 1 & 1}
    except FileNotFoundError:
        return [0]
    if signal.SIGKILL in found:
        time.sleep(0.01)
        return pending(pid)
    # Its own children; and what an owner of a file asked for.
    return sorted(found - {signal.SIGCHLD, signal.SIGIO})


V, W = outsider(lambda: os.setpgid(0, 0))
G, _ = outsider(lambda: None)
names = {"@V": V, "@W": W, "@G": G, "@L": os.getpid()}
argv = task["argv"]
for name, number in names.items():
    argv = [word.replace(name, str(number)) for word in argv]

stdin, near = subprocess.DEVNULL, None
if task["stdin"] == "pidfd":
    stdin = os.pidfd_open(V)
elif task["stdin"] == "socket":
    near, stdin = socket.socketpair()
    for _ in range(20):
        socket.send_fds(near, [b"x"], [os.pidfd_open(V)])
    fcntl.fcntl(stdin, fcntl.F_SETOWN, V)
    fcntl.fcntl(stdin, fcntl.F_SETFL, os.O_ASYNC | os.O_RDWR)
elif task["stdin"] == "owned":
    near, stdin = socket.socketpair()
    fcntl.fcntl(stdin, fcntl.F_SETOWN, V)
    fcntl.fcntl(stdin, 10, 50)
elif task["stdin"] == "silent":
    near, stdin = socket.socketpair()
elif task["stdin"] == "terminal":
    near, stdin = os.openpty()
    fcntl.ioctl(stdin, termios.TIOCSCTTY, 0)

program = subprocess.Popen(
    ["sh", "-c", 'exec "$@" "$$"', "sh", *argv],
    stdin=stdin,
    stdout=subprocess.PIPE,
    text=True,
    preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, ALL),
)
if task["after"]:
    exec(task["after"], globals())
printed = program.stdout.read()
status = program.wait()
if task["stdin"] in ("socket", "owned"):
    near.send(b"x")
sys.stdout.write(printed)
outside = {name[1]: pending(number) for name, number in names.items() if name != "@W"}
print(json.dumps({"status": status, "outside": outside}), flush=True)
for pid in V, G:
    os.kill(pid, signal.SIGKILL)
