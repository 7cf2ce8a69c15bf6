/** Which mounts a confined command gets, and in which order. */
import {describe, expect, it} from 'vitest';
import {type MountPlan, Mounts} from '../../src/sandbox/mounts.ts';

const PLACES = {
  ...{readOnly: ['/home/me/app/.git/hooks'], pinned: ['/home/me/app/.git']},
  missing: [{path: '/home/me/app/.claude'}, {path: '/home/me/app/.mcp.json', content: '{}'}],
};

function plan(change: Partial<MountPlan> = {}, view: object = {}): Mounts {
  const base = {
    system: {folders: ['/usr', '/etc'], links: [{path: '/bin', target: 'usr/bin'}]},
    view: {
      ...{roots: ['/home/me/app'], shown: ['/home/me/.npm'], hidden: [{path: '/home/me/app/keys', isDirectory: true}]},
      ...{masked: [{path: '/home/me/app/.env', isDirectory: false}], links: [], gitSettings: '/home/me/.gitconfig'},
      ...view,
    },
    ...{home: '/home/me', temporary: {path: '/tmp/mini', names: ['a.txt']}, writable: undefined},
    ...change,
  };
  return new Mounts(base as unknown as MountPlan);
}

/** One line for each mount: its flag and its place. */
function lines(mounts: Mounts, isRoot = false): string[] {
  return mounts
    .getFlags(isRoot)
    .join(' ')
    .split(/ (?=--)/);
}

const SYSTEM = ['--symlink usr/bin /bin', '--ro-bind /usr /usr', '--ro-bind /etc /etc'];
const SHOWN = ['/home/me/.npm', '/home/me/.gitconfig'].map((place) => `--ro-bind-try ${place} ${place}`);
const HIDDEN = ['--tmpfs /home/me/app/keys', '--ro-bind /dev/null /home/me/app/.env'];

describe('a command that may not write', () => {
  it('sees the system, what is shown and its workspace without keys, outer places first', () => {
    expect(lines(plan())).toEqual([
      ...['--dir /run', SYSTEM[0], '--proc /proc', '--dev /dev', '--tmpfs /tmp', ...SYSTEM.slice(1)],
      ...[
        '--dir /var/tmp',
        '--dir /home/me',
        '--dir /tmp/mini',
        ...SHOWN,
        '--ro-bind-try /tmp/mini/a.txt /tmp/mini/a.txt',
      ],
      ...['--ro-bind-try /home/me/app /home/me/app', ...HIDDEN],
      ...['--remount-ro /home/me/app/keys', '--remount-ro /'],
    ]);
    expect(lines(plan(), true).slice(-3)).toEqual(
      ['/home/me/app/keys', '/proc', '/'].map((each) => `--remount-ro ${each}`),
    );
    expect(lines(plan({}, {gitSettings: '/dev/null'}))).not.toContain('--ro-bind-try /dev/null /dev/null');
  });

  it('loses what it writes into the temporary folder, which it sees whole when it has more than 40 entries', () => {
    const temporary = (count: number, path = '/tmp/mini') => ({
      path,
      names: Array.from({length: count}, (_, n) => `${n}`),
    });
    const mountsBelow = (place: string, change: Partial<MountPlan>) =>
      lines(plan(change)).filter((line) => line.includes(place));
    expect(mountsBelow('/tmp/mini', {temporary: temporary(40)})).toHaveLength(41);
    expect(mountsBelow('/tmp/mini', {temporary: temporary(41)})).toEqual(['--ro-bind-try /tmp/mini /tmp/mini']);
    expect(mountsBelow('/srv/mini', {temporary: temporary(0, '/srv/mini')})).toEqual(['--tmpfs /srv/mini']);
  });

  it('sees a workspace in what is hidden, and nothing of what is hidden in a workspace', () => {
    const hidden = [{path: '/home', isDirectory: true}];
    expect(lines(plan({}, {hidden}))).not.toContain('--tmpfs /home');
    const inside = {hidden: [{path: '/home/me/app', isDirectory: true}], shown: ['/home/me/app/keys/shown']};
    expect(lines(plan({}, inside))).toContain('--ro-bind-try /home/me/app/keys/shown /home/me/app/keys/shown');
  });

  it.each([
    ...([
      ['/usr/lib/x', true, true],
      ['/home/me/app/a.ts', true, true],
      ['/tmp/mini/a.txt', true, true],
    ] as const),
    ...([
      ['/home/me/app/keys/id', false, false],
      ['/home/me/app/.env', false, true],
      ['/srv', false, false],
    ] as const),
    ...([
      ['/dev/null', true, true],
      ['/dev/sda', false, false],
      ['/proc/stat', true, true],
      ['/proc/1', false, false],
    ] as const),
    ...([
      ['/home', false, true],
      ['/home/me', false, true],
      ['/var', false, true],
      ['/bin', false, false],
    ] as const),
  ])('has the same as outside at %s: %s, and the folder: %s', (place, isVisible, hasFolder) => {
    expect([plan().isVisible(place), plan().hasFolder(place)]).toEqual([isVisible, hasFolder]);
  });
});

describe('a command that may write', () => {
  const temporary = {path: '/home/me/app/tmp/inner/mini/session', names: ['a.txt']};

  it('writes its workspace and its temporary folder, but not what programs outside obey', () => {
    const all = lines(plan({writable: PLACES as never}));
    expect(all.slice(all.indexOf('--bind /tmp/mini /tmp/mini'))).toEqual([
      ...['--bind /tmp/mini /tmp/mini', ...SHOWN, '--bind /home/me/app /home/me/app'],
      '--bind /home/me/app/.git /home/me/app/.git',
      ...['--ro-bind /home/me/app/.mcp.json /home/me/app/.mcp.json', '--tmpfs /home/me/app/.claude', ...HIDDEN],
      '--ro-bind /home/me/app/.git/hooks /home/me/app/.git/hooks',
      ...['/home/me/app/.claude', '/home/me/app/keys', '/'].map((each) => `--remount-ro ${each}`),
    ]);
  });

  it('cannot move the folders around its temporary folder', () => {
    const all = lines(plan({writable: {readOnly: [], pinned: [], missing: []} as never, temporary}));
    const bound = all.filter((line) => line.startsWith('--bind')).map((line) => line.split(' ')[1]);
    expect(bound).toEqual(['/home/me/app', '/home/me/app/tmp', '/home/me/app/tmp/inner', temporary.path]);
  });

  it('writes only the files that it was given, if it was given some', () => {
    const all = lines(plan({writable: PLACES as never, files: ['/home/me/app/a.ts'], temporary}));
    const bound = all.filter((line) => line.startsWith('--bind')).map((line) => line.split(' ')[1]);
    expect(bound).toEqual(['/home/me/app/a.ts', temporary.path]);
    expect(all).toContain('--ro-bind-try /home/me/app /home/me/app');
  });

  it('in a workspace that is the whole system has no root to close', () => {
    expect(lines(plan({}, {roots: ['/']}))).not.toContain('--remount-ro /');
  });
});
