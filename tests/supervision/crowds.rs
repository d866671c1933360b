//! Many at once: right results, and nothing hangs.

use crate::supervision::both::both;

/// Opens, makes and renames as a thread or process of its own, and checks each result.
const WORK: &str = r#"
import threading
def work(name, rounds):
    for n in range(rounds):
        path = '%s-%d' % (name, n)
        with open(path, 'w') as file: file.write(path)
        with open(path) as file: expect(file.read() == path)
        with open('plain') as file: expect(file.read() == 'plain')
        os.rename(path, path + 'm')
        expect(not os.path.exists(path) and os.access(path + 'm', os.R_OK | os.W_OK))
        os.link(path + 'm', path + 'l'); expect(os.stat(path + 'l').st_nlink == 2)
        os.symlink(path + 'l', path + 's'); expect(open(path + 's').read() == path)
        os.mkdir(path); os.chmod(path, 0o700); os.rmdir(path)
        try: open('none'); expect(False)
        except FileNotFoundError: pass
        for end in 'mls': os.unlink(path + end)
wrong = []
def tried(name, rounds):
    try: work(name, rounds)
    except BaseException as error: wrong.append(repr(error))
def children(count, rounds):
    pids = []
    for n in range(count):
        pid = os.fork()
        if pid == 0:
            tried(str(n), rounds)
            if wrong: os.write(2, wrong[0].encode())
            os._exit(len(wrong))
        pids.append(pid)
    return sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 for pid in pids)
"#;

fn crowd(code: &str) -> crate::supervision::both::Both {
    both(&format!("{WORK}\n{}", crate::supervision::both::dedent(code))).file("plain", "plain")
}

#[test]
fn sixty_four_threads_get_right_results() {
    crowd(
        r#"
        gate = threading.Barrier(64)
        def one(n): gate.wait(); tried(str(n), tries(6, 10))
        threads = [threading.Thread(target=one, args=(n,)) for n in range(64)]
        for t in threads: t.start()
        for t in threads: t.join()
        print(wrong[:3], os.listdir('.'))
        "#,
    )
    .print("[] ['plain']\n");
}

/// Each waits until the one before it is accepted.
#[test]
fn six_hundred_connections_wait_for_one_listener() {
    crowd(
        r#"
        import resource, socket
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        threading.stack_size(1 << 17)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind('here'); listener.listen(0)
        def one():
            try: socket.socket(socket.AF_UNIX).connect('here')
            except OSError as error: wrong.append(repr(error))
        threads = [threading.Thread(target=one) for n in range(600)]
        for t in threads: t.start()
        # All but the first few are waiting by now, or have failed.
        time.sleep(tries(3, 10))
        print(wrong[:1])
        accepted = [listener.accept() for n in range(600 - len(wrong))]
        for t in threads: t.join()
        "#,
    )
    .print("[]\n");
}

#[test]
fn a_hundred_processes_get_right_results() {
    crowd("print(children(100, tries(5, 8)), os.listdir('.'))").print("0 ['plain']\n");
}

#[test]
fn two_hundred_short_children_get_right_results() {
    crowd("print([children(1, 1) for n in range(200)] == [0] * 200, os.listdir('.'))").print("True ['plain']\n");
}

#[test]
fn processes_with_threads_get_right_results() {
    crowd(
        r#"
        def many(name):
            threads = [threading.Thread(target=tried, args=('%s-%d' % (name, n), tries(5, 8))) for n in range(8)]
            for t in threads: t.start()
            for t in threads: t.join()
        pids = []
        for n in range(10):
            pid = os.fork()
            if pid == 0: many(n); os._exit(len(wrong))
            pids.append(pid)
        print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0] * 10, os.listdir('.'))
        "#,
    )
    .print("True ['plain']\n");
}

/// Only one of many makes a file, takes a name, removes an entry.
#[test]
fn one_of_many_wins_each_race() {
    crowd(
        r#"
        def race(what, count=16):
            gate, won, words = threading.Barrier(count), [], set()
            def one(n):
                gate.wait()
                try: what(n); won.append(n)
                except OSError as error: words.add(errno.errorcode[error.errno])
            threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
            for t in threads: t.start()
            for t in threads: t.join()
            return len(won), sorted(words)
        results = set()
        for n in range(tries(12, 20)):
            results.add(str(race(lambda i: os.close(os.open('x%d' % n, os.O_CREAT | os.O_EXCL | os.O_WRONLY)))))
            results.add(str(race(lambda i: os.rename('x%d' % n, 'y%d' % n))))
            results.add(str(race(lambda i: os.unlink('y%d' % n))))
            results.add(str(race(lambda i: os.mkdir('d%d' % n))))
            results.add(str(race(lambda i: os.rmdir('d%d' % n))))
            results.add(str(race(lambda i: os.symlink('x', 's%d' % n))))
            # All of these win: the file is there or is made.
            results.add(str(race(lambda i: os.close(os.open('z%d' % n, os.O_CREAT | os.O_WRONLY)))))
        print(sorted(results))
        "#,
    )
    .print(
        r#"["(1, ['EEXIST'])", "(1, ['ENOENT'])", '(16, [])']
"#,
    );
}

#[test]
fn a_file_that_comes_and_goes_is_there_or_not_and_nothing_else() {
    crowd(
        r#"
        over, words = [], set()
        def flip():
            while not over:
                write('flip'); os.rename('flip', 'flop'); os.unlink('flop')
        thread = threading.Thread(target=flip); thread.start()
        for n in range(tries(900, 1500)):
            for flags in os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDWR:
                try: os.close(os.open('flip', flags))
                except OSError as error: words.add(errno.errorcode[error.errno])
        over.append(1); thread.join()
        print(words - {'ENOENT'})
        "#,
    )
    .print("set()\n");
}
