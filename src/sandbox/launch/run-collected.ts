/** Runs a command of the user's settings to its end, with an input, and collects its two outputs separately. */
import type {Readable, Writable} from 'node:stream';
import {StringDecoder} from 'node:string_decoder';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {startProcess} from '../../core/util/processes.ts';
import type {ProcessGroups} from './process-groups.ts';

interface CollectedRun {
  readonly command: string;
  readonly cwd: string;
  /** The whole environment; nothing of mini-cc's own environment is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly processes: ProcessGroups;
}

interface CollectedEnd {
  readonly ended: 'itself' | 'timeout' | 'abort' | 'start';
  /** Undefined when the command did not exit by itself. */
  readonly exitCode: number | undefined;
  /** At most `MAX_CHARS` characters. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Limit for each output in characters. The rest is left out. */
const MAX_CHARS = 1_000_000;
/** Milliseconds to wait for the output, because processes in the background may hold the pipes open. */
const GRACE_MS = 150;

/** Runs `command` in bash. Its whole process group ends with it, at the time limit, and on abort. Never rejects. */
export async function runCollected({
  command,
  cwd,
  env,
  input,
  timeoutMs,
  signal,
  processes,
}: CollectedRun): Promise<CollectedEnd> {
  const started = await startProcess('bash', ['-c', command], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    killDescendants: true,
  });
  const {pid, child, end} = started;
  if (pid === undefined) {
    const {message} = await end;
    return {ended: 'start', exitCode: undefined, stdout: '', stderr: message};
  }
  processes.add(pid);
  const outputs = [child.stdout, child.stderr].map((stream) => collect(stream as Readable));
  send(child.stdin as Writable, input);
  const exited = new Promise<number | undefined>((resolve) => child.once('exit', (code) => resolve(code ?? undefined)));
  let cut: 'timeout' | 'abort' | undefined;
  const stop = (why: 'timeout' | 'abort') => {
    cut ??= why;
    inBackground(processes.end(pid), neverRejects);
  };
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  const onAbort = () => stop('abort');
  signal?.addEventListener('abort', onAbort, {once: true});
  if (signal?.aborted) onAbort();
  const exitCode = await exited;
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
  await Promise.race([
    Promise.all(outputs.map(({closed}) => closed)),
    new Promise((done) => setTimeout(done, GRACE_MS)),
  ]);
  await processes.end(pid);
  const [stdout = '', stderr = ''] = outputs.map((output) => output.take());
  return {ended: cut ?? 'itself', exitCode: cut ? undefined : exitCode, stdout, stderr};
}

function collect(stream: Readable) {
  const decoder = new StringDecoder('utf8');
  let text = '';
  stream.on('data', (bytes: Buffer) => {
    if (text.length < MAX_CHARS) text += decoder.write(bytes);
  });
  return {
    closed: new Promise<void>((resolve) => stream.once('close', resolve)),
    take() {
      stream.destroy();
      return text.slice(0, MAX_CHARS);
    },
  };
}

/** Ignores errors, because a program may end without reading its input. */
function send(stream: Writable, input: string): void {
  stream.on('error', () => undefined);
  stream.end(input);
}
