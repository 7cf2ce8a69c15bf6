/** Drives the built program by stream-json lines, as the Agent SDK does. */
import {onTestFinished} from 'vitest';
import {createHome} from '../support/environment.ts';
import {type CliOptions, spawnCli} from '../support/run-cli.ts';
import {PATIENCE_MS, within} from '../support/wait.ts';

export type Line = Readonly<Record<string, unknown>> & {readonly type: string};
/** What the tests read of the lines, whose shapes they check. */
// biome-ignore lint/suspicious/noExplicitAny: lines of a protocol
export type AnyLine = any;

export interface Driven {
  readonly lines: readonly AnyLine[];
  readonly stderr: () => string;
  send(line: object | string): void;
  /** Sends a control request. @returns its response's body; rejects with its error */
  request(request: object): Promise<AnyLine>;
  /** Sends a prompt. @returns its result line */
  prompt(content: unknown, more?: object): Promise<AnyLine>;
  /** The next line, from the first that was not yet taken, that is so. */
  next(isIt: (line: AnyLine) => boolean): Promise<AnyLine>;
  /** Closes standard input. @returns the exit code */
  end(): Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

export async function startDriven(args: readonly string[], options: CliOptions = {}): Promise<Driven> {
  const home = options.home ?? (await createHome());
  const all = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json', ...args];
  const child = await spawnCli(all, {...options, home});
  const lines: AnyLine[] = [];
  let stderr = '';
  let rest = '';
  const waiters = new Set<() => void>();
  const changed = () => {
    for (const look of [...waiters]) look();
  };
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop()!;
    lines.push(...parts.map((part) => JSON.parse(part)));
    changed();
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  let hasClosed = false;
  void exited.then(() => {
    // Its last lines may be read after its exit, but not after this.
    hasClosed = true;
    changed();
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    if (options.home === undefined) await home.remove();
  });
  let taken = 0;
  let requests = 0;
  const send = (line: object | string) =>
    child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  const describe = () => `no such line\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n${stderr}`;
  const find = (isIt: (line: AnyLine) => boolean, from: number): Promise<number> => {
    const found = Promise.withResolvers<number>();
    const look = () => {
      const index = lines.findIndex((line, at) => at >= from && isIt(line));
      if (index !== -1) found.resolve(index);
      else if (hasClosed) found.reject(new Error(describe()));
    };
    waiters.add(look);
    look();
    return within(found.promise, 2 * PATIENCE_MS, describe).finally(() => waiters.delete(look));
  };
  const next: Driven['next'] = async (isIt) => {
    const index = await find(isIt, taken);
    taken = index + 1;
    return lines[index];
  };
  return {
    ...{lines, send, next},
    stderr: () => stderr,
    async request(request) {
      requests += 1;
      const id = `r${requests}`;
      send({type: 'control_request', request_id: id, request});
      const isAnswer = (line: AnyLine) => line.type === 'control_response' && line.response.request_id === id;
      const {response} = lines[await find(isAnswer, 0)];
      if (response.subtype === 'error') throw new Error(response.error, {cause: response});
      return response.response;
    },
    prompt(content, more = {}) {
      send({type: 'user', session_id: '', message: {role: 'user', content}, parent_tool_use_id: null, ...more});
      return next((line) => line.type === 'result');
    },
    async end() {
      child.stdin.end();
      return exited;
    },
    kill: (signal) => void child.kill(signal),
  };
}
