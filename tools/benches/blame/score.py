#!/usr/bin/env python3
"""Measures how well `stockade run` explains failed runs, on a set of labelled cases.

    score.py SET --binary PATH [--terminal] [--user NAME] [--jobs 2] [--only ID] [--trust] [--json FILE] [-v]

SET is a directory with a `cases.jsonl`, or that file. Each record is a case (README.md tells the fields). For each one
a fresh directory is made; it is run bare, confined, confined with the label's `needs`, and confined with what the
report suggests. Needs nothing but Python's standard library; `--user` needs root.
"""
import argparse, concurrent.futures, fnmatch, json, os, pathlib, pty, re, select, shutil, signal, socket, subprocess
import sys, tempfile, threading, time

PATH = '/usr/local/bin:/usr/bin:/bin'
SAME = [{'write', 'create', 'delete', 'metadata'}, {'env', 'variable', 'environment'},
        {'connect', 'resolve', 'lookup', 'look up', 'network'}]
SECRET = re.compile(r'/\.ssh|/\.env|\.pem$|\.key$|/\.aws|/\.netrc|/\.gnupg|/etc/shadow|/secrets(/|$)|/credentials|/\.git-credentials')
LIMIT = 30


# ---- running ---------------------------------------------------------------------------------------------------------

def demote(user):
    if not user:
        return {}
    import pwd
    entry = pwd.getpwnam(user)
    return {'user': entry.pw_uid, 'group': entry.pw_gid, 'extra_groups': []}


def run(words, cwd, env, options, terminal=False):
    """Returns (exit code as a shell tells it, what was printed)."""
    if terminal:
        master, slave = pty.openpty()
        def own():
            import fcntl, termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        child = subprocess.Popen(words, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave,
                                 start_new_session=True, preexec_fn=own, **options)
        os.close(slave)
    else:
        master, slave = os.pipe()
        child = subprocess.Popen(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                                 start_new_session=True, **options)
        os.close(slave)
    said, end = b'', time.monotonic() + LIMIT
    late = False
    ended = None
    while True:
        if ended is None and child.poll() is not None:
            ended = time.monotonic()
        # a process that was left behind may hold the pipe open: don't wait for that
        if time.monotonic() > end or (ended and time.monotonic() > ended + 0.3):
            break
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            try:
                piece = os.read(master, 65536)
            except OSError:
                piece = b''
            if not piece:
                break
            said = (said + piece)[-400000:]
    try:
        code = child.wait(timeout=max(0.1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        late = True
    try:
        os.killpg(child.pid, signal.SIGTERM if late else signal.SIGKILL)
        if late:
            time.sleep(3)
            os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    code = child.wait()
    os.close(master)
    if late:
        return 'timeout', said.decode(errors='replace')
    return (128 - code if code < 0 else code), said.decode(errors='replace')


class Tcp:
    """A server on loopback that answers whatever comes with a small HTTP page."""
    def __init__(self, address='127.0.0.1'):
        self.socket = socket.socket(socket.AF_INET6 if ':' in address else socket.AF_INET)
        self.socket.bind((address, 0))
        self.socket.listen(16)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=serve, args=(self.socket,), daemon=True).start()


def serve(listener):
    while True:
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=answer, args=(peer,), daemon=True).start()


def answer(peer):
    try:
        peer.settimeout(5)
        if peer.recv(65536):
            body = b'{"ok": true}\n'
            peer.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' % (len(body), body))
    except OSError:
        pass
    finally:
        peer.close()


class Trial:
    """A case in a directory of its own, made anew for each run."""
    def __init__(self, case, base, opts):
        self.case, self.opts = case, opts
        self.base = pathlib.Path(base) / case['id']
        self.names = {'@ROOT': str(self.base / 'root'), '@OUT': str(self.base / 'out'), '@HOME': str(self.base / 'home')}
        self.servers, self.listeners = [], []
        for number, kind in enumerate(case.get('serve', [])):
            if kind.startswith('tcp'):
                server = Tcp(*kind.split()[1:])
                self.listeners.append(server.socket)
                self.names['@PORT' + str(number)] = str(server.port)
        if 'free' in json.dumps(case.get('serve', [])) or '@FREE' in json.dumps(case):
            probe = socket.socket()
            probe.bind(('127.0.0.1', 0))
            self.names['@FREE'] = str(probe.getsockname()[1])
            probe.close()

    def fill(self, text):
        for name in sorted(self.names, key=len, reverse=True):
            text = text.replace(name, self.names[name])
        return text

    def fresh(self):
        case = self.case
        for listener in self.servers:
            listener.close()
        self.servers = []
        shutil.rmtree(self.base, ignore_errors=True)
        for part in ('root', 'out', 'home'):
            (self.base / part).mkdir(parents=True)
        for name in case.get('dirs', []):
            pathlib.Path(self.fill(name)).mkdir(parents=True, exist_ok=True)
        for name, text in case.get('files', {}).items():
            path = pathlib.Path(self.fill(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.fill(text))
            if text.startswith('#!'):
                path.chmod(0o755)
        for name, target in case.get('links', {}).items():
            path = pathlib.Path(self.fill(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(self.fill(target))
        for number, kind in enumerate(case.get('serve', [])):
            if kind.startswith('unix'):
                path = self.fill(kind.split()[1])
                pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
                listener = socket.socket(socket.AF_UNIX)
                here = os.open(os.path.dirname(path), os.O_PATH)
                listener.bind('/proc/self/fd/%d/%s' % (here, os.path.basename(path)))
                os.close(here)
                os.chmod(path, 0o666)
                listener.listen(8)
                self.servers.append(listener)
                threading.Thread(target=serve, args=(listener,), daemon=True).start()
        if self.opts.user:
            subprocess.run(['chown', '-hR', self.opts.user + ':', str(self.base)], check=True)
        if case.get('setup'):
            done = subprocess.run(['sh', '-ec', self.fill(case['setup'])], cwd=self.names['@ROOT'], env=self.env(),
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, **demote(self.opts.user))
            if done.returncode:
                raise RuntimeError('setup failed: ' + done.stderr[-300:] + done.stdout[-200:])

    def env(self):
        env = {'PATH': PATH, 'HOME': self.names['@HOME'], 'LANG': 'C.UTF-8', 'TERM': 'dumb'}
        env.update({name: self.fill(value) for name, value in self.case.get('env', {}).items()})
        return env

    def words(self):
        return [self.fill(word) for word in self.case['command']]

    def bare(self):
        self.fresh()
        return run(self.words(), self.names['@ROOT'], self.env(), demote(self.opts.user))

    def confined(self, more=(), profile=None):
        self.fresh()
        case, report = self.case, str(self.base / 'report.json')
        words = [self.opts.binary, 'run', '--ask', 'never', '--profile', profile or self.fill(case['profile'])]
        words += [self.fill(word) for word in case.get('flags', [])] + list(more)
        words += ['--root', self.names['@ROOT'], '--report', report, '--'] + self.words()
        code, said = run(words, self.names['@ROOT'], self.env(), demote(self.opts.user), self.opts.terminal)
        try:
            with open(report) as file:
                told = json.load(file)
        except (OSError, ValueError):
            told = {'status': 'no report', 'denials': [], 'suggestion': None}
        return code, said, told

    def close(self):
        for listener in self.servers + self.listeners:
            listener.close()
        if not self.opts.keep:
            shutil.rmtree(self.base, ignore_errors=True)


# ---- judging ---------------------------------------------------------------------------------------------------------

def same_access(one, other):
    return other == '*' or one == other or any(one in names and other in names for names in SAME)


def plain(target):
    """A target in one form: paths with their links resolved, hosts without a port that says nothing."""
    if target.startswith('/') and '*' not in target:
        return os.path.realpath(target)
    return target


def is_first(denial, firsts):
    for access, target in firsts:
        if not same_access(denial['access'], access):
            continue
        if fnmatch.fnmatchcase(plain(denial['target']), plain(target)) or fnmatch.fnmatchcase(denial['target'], target):
            return True
    return False


def pairs(flags):
    """The words of a suggestion as (flag, value)."""
    grants, words = [], list(flags)
    while words:
        word = words.pop(0)
        if word.startswith('--') and '=' in word:
            grants.append(tuple(word.split('=', 1)))
        else:
            grants.append((word, words.pop(0) if words else ''))
    return grants


GIVES = {'--write': {'--write', '--read', '--exec'}, '--read': {'--read'}, '--exec': {'--exec', '--read'}}


def within(grant, allowed):
    """Whether a suggested grant gives no more than one that the label allows."""
    flag, value = grant
    for other, may in allowed:
        if flag in GIVES and other in GIVES:
            if flag in GIVES[other] or flag == other:
                one, two = plain(value).rstrip('/'), plain(may).rstrip('/')
                if one == two or one.startswith(two + '/') or fnmatch.fnmatchcase(one, two):
                    return True
        elif flag == other == '--host':
            one, two = value, may
            if fnmatch.fnmatchcase(one, two) or one.startswith(two + ':'):
                return True
        elif flag == other and (value == may or value.split('=')[0] == may.split('=')[0]):
            return True
    return False


def grave(told, allowed):
    suggestion = told.get('suggestion') or {}
    if suggestion.get('profile') == 'trusted' or 'trusted' in suggestion.get('flags', []):
        return 'trusted'
    listed = suggestion.get('candidates', [])
    if any(one['profile'] == 'trusted' for one in listed):
        return 'trusted'
    for flag, value in pairs(suggestion.get('flags', []) + [word for one in listed for word in one['flags']]):
        if flag in GIVES and SECRET.search(value) and not within((flag, value), allowed):
            return 'secret ' + value
    return None


def is_told(denial, said):
    """Whether Stockade's own lines, which come last, name its target."""
    target = denial['target']
    lines = said.replace('\r', '').split('stockade: ')[1:]
    return any(text in line for line in lines for text in (target, target.split(':')[0], json.dumps(target)[1:-1]))


def lines_of(said):
    return [line for line in said.replace('\r', '').splitlines() if line.startswith('stockade: ')]


def short(told):
    rows = ['%s %s (%s)' % (d['access'], d['target'], d['explains']) for d in told['denials'][:4]]
    return '%s; denials: %s; suggests %s' % (told['status'], ', '.join(rows) or '-', json.dumps(told.get('suggestion')))


def judge(case, opts, base):
    row = {'id': case['id'], 'kind': case['kind'], 'lang': case['lang'], 'broken': None, 'misses': []}
    trial = Trial(case, base, opts)
    try:
        measure(case, opts, trial, row)
    except Exception as error:
        row['broken'] = '%s: %s' % (type(error).__name__, error)
    finally:
        trial.close()
    return row


def measure(case, opts, trial, row):
    fatal = case['kind'] == 'fatal'
    tried = not case.get('untried')     # a host that isn't here: neither bare nor granted would it succeed
    bare = None
    if tried and not opts.trust:
        bare, said = trial.bare()
        if fatal and bare != 0:
            row['broken'] = 'bare fails: %s: %s' % (bare, said[-300:])
        if not fatal and bare in (0, 'timeout'):
            row['broken'] = 'bare ends with %s' % bare
        if row['broken']:
            return
    code, said, told = trial.confined()
    row['status'] = told['status']
    detail = '\n      ' + short(told) + ('\n      said: ' + said[-600:].replace('\n', '\n            ') if opts.verbose else '')
    if code == 'timeout':                 # a refusal that isn't told at once: the product's miss
        row['misses'].append('took longer than %d s, was ended' % LIMIT)
        told = {'status': 'timeout', 'denials': told['denials'], 'suggestion': None}
    if code in (0, 125) and not (code == 125 and told['status'] == 'permission_denied'):
        row['broken'] = 'confined ends with %s: %s%s' % (code, said[-300:], detail)
        return
    message = lines_of(said)
    blamed = told['status'] == 'permission_denied'
    row['mentioned'] = any('perhaps the reason' in line for line in message)
    if not fatal:
        if bare is not None and code != bare:
            row['broken'] = 'bare ends with %s, confined with %s: %s%s' % (bare, code, said[-300:], detail)
            return
        if not told['denials'] and not case.get('unseen'):
            row['broken'] = 'nothing was refused' + detail
            return
        row['blamed'] = blamed or any(' was refused ' in line for line in message)
        if row['blamed']:
            row['misses'].append('own fault asserted' + detail)
        row['grave'] = grave(told, [])
        if row['grave']:
            row['misses'].append('grave: ' + row['grave'])
        return
    needs = [[trial.fill(word) for word in flags] for flags in case['needs']]
    firsts = [(access, trial.fill(target)) for access, target in case['first']]
    if needs and tried and not opts.trust:
        for flags in needs:
            granted, words, _ = trial.confined(flags)
            if granted != 0:
                row['broken'] = 'fails with its needs %s: %s: %s' % (flags, granted, words[-300:])
                return
    if needs == [] and not case.get('closed'):
        row['broken'] = 'no needs'
        return
    # the first denial
    denials = told['denials']
    row['explained'] = blamed
    listed = [denial for denial in denials if denial['explains'] in ('yes', 'perhaps')]
    is_right = lambda denial: is_first(denial, firsts) and is_told(denial, said)
    right = bool(listed and is_right(listed[0]))
    row['named'] = any(map(is_right, listed))
    if not right and listed and is_first(listed[0], firsts):
        row['misses'].append('the message tells another than the report: %s' % (message or 'nothing'))
    dropped = [target for access, target in firsts if access == 'env' or (access, 'PATH') == ('env', target)]
    if not right and dropped:
        # a variable or an entry of PATH may be told in another form than a denial: then by name, and with its flag
        given = pairs((told.get('suggestion') or {}).get('flags') or [])
        for need in needs:
            if given and all(pair in given for pair in pairs(need)) and any(
                    pair[1] in line for pair in pairs(need) for line in message):
                right = blamed = row['explained'] = row['named'] = True
    row['first'] = right
    row['vague'] = bool(case.get('vague'))
    if row['vague'] and not blamed and row['mentioned']:
        # nothing in the run says which refusal it was: that line is an honest answer
        row['first'] = row['named'] = True
    elif not listed:
        row['misses'].append('not explained' + detail)
    elif not right:
        row['misses'].append(('' if row['named'] else 'not named: ') + 'first denial is %s %s, not %s%s' % (
            denials[0]['access'] if denials else '-', denials[0]['target'] if denials else '-', firsts, detail))
    # what it suggests
    allowed = [pair for flags in needs + case.get('allow', []) for pair in pairs([trial.fill(word) for word in flags])]
    row['grave'] = grave(told, allowed)
    if row['grave']:
        row['misses'].append('grave: ' + row['grave'])
    suggestion = told.get('suggestion') or {}
    flags = suggestion.get('flags') or []
    chosen = [one for one in suggestion.get('candidates') or [] if is_first(one, firsts)]     # what a person picks of a list
    flags = flags or (chosen[0]['flags'] if chosen else [])
    profile = None if flags else suggestion.get('profile')
    if case.get('closed'):              # a secret: nothing may be suggested
        row['works'], row['rounds'] = not flags and not profile, 1
        row['beyond'] = bool(flags or profile)
        if not row['works']:
            row['misses'].append('suggests %s for what nothing opens' % (flags or profile))
        return
    if not flags and not profile:
        row['works'], row['beyond'], row['rounds'] = None if row['vague'] and row['mentioned'] and not blamed else False, False, 0
        if blamed:
            row['misses'].append('suggests nothing' + detail)
        return
    wider = [grant for grant in pairs(flags) if not within(grant, allowed)]
    if profile and not any(grant == ('--profile', profile) for grant in allowed):
        wider.append(('--profile', profile))
    row['beyond'] = bool(wider)
    if wider:
        row['misses'].append('suggests beyond the need: %s, needed %s' % (wider, needs))
    if not tried:
        row['works'] = any(all(within(pair, pairs(flags)) for pair in pairs(need)) or
                           all(within(pair, pairs(need)) for pair in pairs(flags)) for need in needs)
        row['rounds'] = 1 if row['works'] else 0
        if not row['works']:
            row['misses'].append('suggests %s, needed %s' % (flags, needs))
        return
    code, said, told = trial.confined(flags, profile)
    row['works'], row['rounds'] = code == 0, 1 if code == 0 else 0
    if code != 0:
        row['misses'].append('fails with the suggested %s: %s: %s\n      %s' % (flags or profile, code, said[-200:], short(told)))
        more = (told.get('suggestion') or {}).get('flags') or []
        if more:
            code, said, _ = trial.confined(flags + more, profile)
            if code == 0:
                row['rounds'] = 2


# ---- telling ---------------------------------------------------------------------------------------------------------

def share(count, of):
    return '%d of %d (%.1f %%)' % (count, of, 100 * count / of) if of else '-'


def table(rows):
    sound = [row for row in rows if not row['broken']]
    fatal = [row for row in sound if row['kind'] == 'fatal']
    own = [row for row in sound if row['kind'] == 'own']
    told = [
        ('cases', '%d: %d fatal, %d own, %d broken' % (len(rows), len(fatal), len(own), len(rows) - len(sound))),
        ('fatal: asserted', share(sum(row['explained'] for row in fatal), len(fatal))),
        ('fatal: a list', share(sum(row['mentioned'] and not row['explained'] for row in fatal), len(fatal))),
        ('fatal: silent', share(sum(not row['mentioned'] and not row['explained'] for row in fatal), len(fatal))),
        ('fatal: first denial right', share(sum(row['first'] for row in fatal), len(fatal))),
        ('fatal: right one among those named', share(sum(row['named'] for row in fatal), len(fatal))),
        ('fatal: suggestion works', share(sum(bool(row['works']) for row in fatal), sum(row['works'] is not None for row in fatal))),
        ('fatal: works after a second round', share(sum(row['rounds'] == 2 for row in fatal), len(fatal))),
        ('fatal: grants beyond the need', share(sum(row['beyond'] for row in fatal), len(fatal))),
        ('own: fault asserted to be a refusal', share(sum(row['blamed'] for row in own), len(own))),
        ('grave (secret or trusted suggested)', share(sum(bool(row['grave']) for row in sound), len(sound))),
    ]
    for name, value in told:
        print('%-40s %s' % (name, value))
    print('\n%-10s %6s %6s %6s %6s %6s | %5s %6s' % ('language', 'fatal', 'expl.', 'first', 'works', 'beyond', 'own', 'blamed'))
    for lang in sorted({row['lang'] for row in sound}):
        some = [row for row in fatal if row['lang'] == lang]
        owns = [row for row in own if row['lang'] == lang]
        print('%-10s %6d %6d %6d %6d %6d | %5d %6d' % (
            lang, len(some), *(sum(bool(row[key]) for row in some) for key in ('explained', 'first', 'works', 'beyond')),
            len(owns), sum(row['blamed'] for row in owns)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('set')
    parser.add_argument('--binary', required=True)
    parser.add_argument('--terminal', action='store_true', help='gives the confined run a pseudo-terminal')
    parser.add_argument('--user', help='runs everything as this user (needs root)')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--only', action='append', help='this case alone (an id, or a pattern)')
    parser.add_argument('--trust', action='store_true', help="doesn't try again bare and with the label's needs")
    parser.add_argument('--summary', action='store_true', help='prints the table, and no line on single cases')
    parser.add_argument('--json', help='writes the rows there')
    parser.add_argument('--base', default='/var/tmp', help='where the directories are made (not below /tmp, which some profiles open)')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('-v', '--verbose', action='store_true')
    opts = parser.parse_args()
    opts.binary = os.path.abspath(opts.binary)
    file = pathlib.Path(opts.set)
    file = file / 'cases.jsonl' if file.is_dir() else file
    cases = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
    if opts.only:
        cases = [case for case in cases if any(fnmatch.fnmatchcase(case['id'], only) for only in opts.only)]
    missing = {case['id']: [tool for tool in case.get('tools', []) if not shutil.which(tool, path=PATH)] for case in cases}
    skipped = [name for name, tools in missing.items() if tools]
    cases = [case for case in cases if not missing[case['id']]]
    base = tempfile.mkdtemp(prefix='blame-', dir=opts.base)
    os.chmod(base, 0o755)
    if opts.user:
        shutil.chown(base, opts.user)
    start = time.monotonic()
    try:
        with concurrent.futures.ThreadPoolExecutor(max(1, opts.jobs)) as pool:
            rows = list(pool.map(lambda case: judge(case, opts, base), cases))
    finally:
        if not opts.keep:
            shutil.rmtree(base, ignore_errors=True)
    if not opts.summary:
        for row in rows:
            if row['broken']:
                print('%s: broken: %s' % (row['id'], row['broken']))
        for row in rows:
            for miss in row['misses']:
                print('%s: %s' % (row['id'], miss))
        print()
    if skipped:
        print('skipped, as tools are missing: %d\n' % len(skipped))
    table(rows)
    print('\n%d s, as %s, %s' % (time.monotonic() - start, opts.user or 'the caller (uid %d)' % os.getuid(),
                                'terminal' if opts.terminal else 'pipes'))
    if opts.json:
        pathlib.Path(opts.json).write_text(json.dumps(rows, indent=1))
    return 1 if any(row['broken'] for row in rows) else 0


if __name__ == '__main__':
    sys.exit(main())
