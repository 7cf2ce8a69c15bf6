/** What goes through the queue: signatures, replays, paths. The queue itself is in tests/outside/workers. */
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {chooseWhere, type RemoteRuns} from '../../src/core/runs/remote-runs.ts';
import {checkQueueUrl} from '../../src/workers/queue/address.ts';
import {fromRelative, toRelative} from '../../src/workers/queue/messages.ts';
import {PROTOCOL, RefusedMessage, Signatures, type SignedMessage} from '../../src/workers/queue/signatures.ts';
import {EndedJobs} from '../../src/workers/serve/ended-jobs.ts';

const signatures = (secret = 'secret-of-both', now = 1_000) => new Signatures(secret, () => now);

function refusal(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    if (error instanceof RefusedMessage) return error.refusal;
    throw error;
  }
  return 'taken';
}

describe('a signed message', () => {
  const body = {jobId: 'a-1', text: 'work'};
  const signed = signatures().sign('job', body, 500);

  it('is taken by who knows the secret, once more each time that it is asked', () => {
    expect(signatures().verify('job', JSON.parse(JSON.stringify(signed))).body).toEqual(body);
  });

  it('is refused with another secret, as another kind, when any part was changed, and when it is too old', () => {
    const open = (message: unknown, by = signatures(), kind: 'job' | 'result' = 'job') =>
      refusal(() => by.verify(kind, message));
    expect(open(signed, signatures('another-secret'))).toBe('signature');
    expect(open(signed, signatures(), 'result')).toBe('signature');
    expect(open({...signed, kind: 'result'}, signatures(), 'result')).toBe('signature');
    const changes: Partial<SignedMessage>[] = [
      {body: JSON.stringify({...body, text: 'other work'})},
      {nonce: 'another'},
      {expires: signed.expires + 1},
      {mac: signed.mac.replace(/^./, (first) => (first === '0' ? '1' : '0'))},
      {mac: ''},
      {mac: 'no hex'},
    ];
    for (const change of changes) expect(open({...signed, ...change}), JSON.stringify(change)).toBe('signature');
    expect(open(signed, signatures('secret-of-both', 1_499))).toBe('taken');
    expect(open(signed, signatures('secret-of-both', 1_500))).toBe('expired');
  });

  it('of another version says which side is older, and what is no message is refused', () => {
    expect(() => signatures().verify('job', {...signed, protocol: PROTOCOL + 1})).toThrow(/this mini-cc is older/);
    expect(() => signatures().verify('job', {...signed, protocol: PROTOCOL - 1})).toThrow(/this mini-cc is newer/);
    for (const message of [undefined, null, 1, 'text', {}, {...signed, body: 5}]) {
      expect(refusal(() => signatures().verify('job', message))).toBe('format');
    }
  });

  it('has a nonce of its own each time', () => {
    const nonces = new Set(Array.from({length: 100}, () => signatures().sign('job', body, 500).nonce));
    expect(nonces.size).toBe(100);
  });
});

it('a worker remembers the jobs that ended there in its own folder, until their messages are too old', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-ended-'));
  onTestFinished(() => rmSync(folder, {recursive: true}));
  const file = path.join(folder, 'worker', 'ended-jobs');
  const first = new EndedJobs(file, () => 1_000);
  first.add('one', 2_000);
  first.add('two', 5_000);
  expect([first.has('one'), first.has('two'), first.has('three')]).toEqual([true, true, false]);
  const later = new EndedJobs(file, () => 3_000);
  expect([later.has('one'), later.has('two')]).toEqual([false, true]);
  expect(readFileSync(file, 'utf8')).toBe('two 5000\n');
});

it('paths of the workspace are those of the other machine, in all texts, and other paths stay', () => {
  const value = {text: 'see /home/me/app/src/a.ts:3', files: ['/home/me/app', '/etc/hosts'], count: 3, none: null};
  const sent = JSON.parse(JSON.stringify(toRelative(value, '/home/me/app')));
  expect(JSON.stringify(sent)).not.toContain('/home/me');
  expect(fromRelative(sent, '/srv/trees/x/app')).toEqual({
    ...value,
    text: 'see /srv/trees/x/app/src/a.ts:3',
    files: ['/srv/trees/x/app', '/etc/hosts'],
  });
});

it('where a run works follows from what is asked, its worktree and the queue', () => {
  const queue = {isConfigured: true} as RemoteRuns;
  expect(chooseWhere(undefined, 'worktree', queue)).toBeUndefined();
  expect(chooseWhere('local', 'worktree', queue)).toBeUndefined();
  expect(chooseWhere('workers', 'worktree', queue)).toBe('workers');
  expect(chooseWhere('auto', 'worktree', queue)).toBe('auto');
  expect(chooseWhere('auto', 'none', queue)).toBeUndefined();
  expect(chooseWhere('auto', 'worktree', undefined)).toBeUndefined();
  expect(() => chooseWhere('workers', 'worktree', undefined)).toThrow(/subagents\.queue/);
  expect(() => chooseWhere('workers', 'none', queue)).toThrow(/isolation: "worktree"/);
});

it('an address is shown without its password, and what is none is told from one', () => {
  expect(checkQueueUrl('redis://:secret@host:6379/2')).toBe('redis://host:6379/2');
  expect(checkQueueUrl('rediss://user:secret@host')).toBe('rediss://host');
  for (const wrong of ['http://host', 'redis://', 'host:6379', '']) expect(checkQueueUrl(wrong)).toBeUndefined();
});
