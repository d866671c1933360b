import json, os, sys

HOMES = [os.environ['HOME'], '/home/ada', '/home/bob']
MOUNTS = ['m/home', 'm/above/bob'] + ['m/overlay'] * os.path.isdir('m/overlay')


def names(kind):
    lines = open(kind + '.txt').read().split('\n')
    return [line for line in lines if line and not line.startswith('#')]


def below(bases, all_names):
    """Those of homes: without a mark or with `~/`."""
    found = [base + '/' + name.removeprefix('~/') for base in bases for name in all_names if name[:2] != './' and name[0] != '/']
    inside = [name.removeprefix('~/').removeprefix('.config/') for name in all_names if name.startswith(('.config/', '~/.config/'))]
    return found + ['m/config/' + name for name in inside if 'm/home' in bases]


def project(all_names):
    return ['p/' + name[2:] for name in all_names if name.startswith('./')]


def paths(bases):
    secrets, neighbours, guarded = names('secrets'), names('neighbours'), names('guarded')
    own = ['p/' + name.removeprefix('./') for name in names('projects')]
    plain = [name for name in neighbours if name[0] not in '~/' and name[:2] != './']
    return {
        'secrets': below(bases, secrets) + own,
        'neighbours': below(bases, neighbours) + project(neighbours) + ['p/' + name for name in plain],
        'guarded': below(bases, guarded) + project(guarded),
    }


def make():
    for all_paths in paths(HOMES).values():
        for path in all_paths:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if not os.path.isdir(path):
                open(path, 'w').write('x')


def try_open(path, flags):
    try:
        os.close(os.open(path, flags))
        return 'open'
    except OSError:
        return 'closed'


def there_and_back(path):
    os.rename(path, path + '.moved')
    os.rename(path + '.moved', path)


def link_and_unlink(path):
    os.link(path, path + '.linked')
    os.unlink(path + '.linked')


def attempt(path):
    """`open` where all can be done with it, `closed` where nothing can."""
    calls = [lambda: os.close(os.open(path, os.O_RDONLY))]
    # An overlay without an upper directory can't be written.
    if not path.startswith('m/overlay/'):
        calls += [lambda: os.close(os.open(path, os.O_WRONLY)), lambda: there_and_back(path), lambda: link_and_unlink(path)]
    worked = []
    for call in calls:
        try:
            call()
            worked.append(True)
        except OSError:
            worked.append(False)
    return 'open' if all(worked) else 'part' if any(worked) else 'closed'


def look():
    told = {}
    for kind, all_paths in paths(HOMES + MOUNTS).items():
        told[kind] = {'open': [], 'part': [], 'closed': []}
        for path in all_paths:
            told[kind][attempt(path) if kind == 'secrets' else try_open(path, os.O_RDONLY)].append(path)
    told['changed'] = {'open': [], 'closed': []}
    # An overlay without an upper directory can't be written.
    for path in paths(HOMES + MOUNTS[:2])['guarded']:
        told['changed'][try_open(path, os.O_WRONLY)].append(path)
    print(json.dumps(told))


make() if sys.argv[1] == 'make' else look()
