import {describe, expect, it, test} from 'vitest';
import {onProcessExit, runProgram, runProgramSync, startProcess} from '../../../src/core/util/processes.ts';

const shell = (script: string, options = {}) => runProgram('sh', ['-c', script], options);

test('a program runs to its end, and its output is returned as bytes', async () => {
  const {stdout, ...end} = await shell(`printf '\\377\\n'; echo trouble >&2; exit 3`);
  expect([...stdout]).toEqual([0xff, 0x0a]);
  expect(end).toMatchObject({ended: 'exit', exitCode: 3, stderr: 'trouble\n'});
});

test('a program has exactly the environment that its caller passes', async () => {
  const {stdout} = await runProgram('env', [], {env: {ONE: '1', TWO: undefined}});
  expect(stdout.toString()).toBe('ONE=1\n');
});

test('standard input is empty by default, and further descriptors can be read', async () => {
  expect((await shell('cat')).stdout.toString()).toBe('');
  const {stdout} = await shell('cat; cat <&4', {input: 'a', inputs: [undefined, Buffer.from('b')]});
  expect(stdout.toString()).toBe('ab');
});

test('input that the program does not read is not an error', async () => {
  expect(await shell('exit 0', {input: Buffer.alloc(3_000_000)})).toMatchObject({ended: 'exit', exitCode: 0});
});

test('a program is ended at its limit, on abort, by too much output, and by a signal', async () => {
  expect(await shell('exec sleep 9', {limitMs: 50})).toMatchObject({ended: 'limit', exitCode: undefined});
  expect(await shell('exec sleep 9', {signal: AbortSignal.abort()})).toMatchObject({ended: 'abort'});
  const output = await shell('head -c 5000 /dev/zero; exec sleep 9', {maxBytes: 1000});
  expect(output).toMatchObject({ended: 'output', exitCode: undefined});
  expect(output.stdout).toHaveLength(1000);
  expect(await shell('kill -9 $$')).toMatchObject({ended: 'signal', exitCode: undefined});
});

test('the result says why a program was not started', async () => {
  const missing = {ended: 'start', exitCode: undefined, code: 'ENOENT', message: 'spawn no-such-program ENOENT'};
  expect(await runProgram('no-such-program', [])).toMatchObject(missing);
  expect(await runProgram('true', [], {cwd: '/no/such/folder'})).toMatchObject({
    ...{ended: 'start', code: undefined, message: 'the folder /no/such/folder does not exist'},
  });
  expect(await runProgram('no-such-program', [], {cwd: '/'})).toMatchObject(missing);
  const {pid, end} = await startProcess('no-such-program', [], {stdio: ['ignore', 'pipe', 'pipe']});
  expect(pid).toBeUndefined();
  expect(await end).toEqual(missing);
});

test('a started program has streams, and then an end', async () => {
  const {child, end} = await startProcess('cat', [], {stdio: ['pipe', 'pipe', 'ignore']});
  const read: string[] = [];
  child.stdout?.on('data', (chunk) => read.push(String(chunk)));
  child.stdin?.end('word');
  expect(await end).toMatchObject({ended: 'exit', exitCode: 0, message: ''});
  expect(read.join('')).toBe('word');
});

test('a program leads its own process group when its descendants must end with it', async () => {
  const {child, pid, end} = await startProcess('sh', ['-c', 'sleep 9 & wait'], {
    stdio: ['ignore', 'ignore', 'ignore'],
    killDescendants: true,
  });
  expect(runProgramSync('ps', ['-o', 'pgid=', '-p', String(pid)]).trim()).toBe(String(pid));
  process.kill(-child.pid!, 'SIGKILL');
  expect(await end).toMatchObject({ended: 'signal'});
});

describe('onProcessExit', () => {
  it('makes room for each listener, and takes it back: forty sessions in one process bring no warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const [before, most] = [process.listenerCount('exit'), process.getMaxListeners()];
    const stops = Array.from({length: 40}, () => onProcessExit(() => undefined));
    await new Promise((resolve) => setImmediate(resolve));
    expect(process.listenerCount('exit')).toBe(before + 40);
    for (const stop of stops) stop();
    process.off('warning', note);
    expect(warnings).toEqual([]);
    expect([process.listenerCount('exit'), process.getMaxListeners()]).toEqual([before, most]);
  });
});
