/** Runs `mini-cc acp`, by which an editor drives mini-cc with the Agent Client Protocol. */
import {Readable, Writable} from 'node:stream';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {UsageError} from '../core/util/errors.ts';
import {showControls} from '../core/util/text.ts';
import type {OpenSession} from '../drivers/acp/agent.ts';
import type {Arguments} from './arguments.ts';
import {onSignals, type Pipes} from './process.ts';
import type {Start} from './start.ts';

/** Serves until the editor closes its end. @returns the exit code @throws UsageError for bad usage */
export async function runAcp(
  start: Start,
  {session: given, driver}: Arguments,
  words: readonly string[],
  pipes: Pipes,
): Promise<number> {
  if (words.length > 0) throw new UsageError(`acp takes no words, only flags: ${words.join(' ')}`);
  const [{compose}, {getExistingFolder}, {listSessions, eraseSession}, {serveAcp}] = await Promise.all([
    import('../compose/session.ts'),
    import('../compose/permission-settings.ts'),
    import('../compose/sessions.ts'),
    import('../drivers/acp/agent.ts'),
  ]);
  const host = {env: process.env, home: start.home, interactive: false, driverAnswers: true};
  const open = async ({cwd, addDirs, mcpServers, resume, forks, showsForms, editor}: OpenSession) =>
    compose({
      ...given,
      ...host,
      cwd: getExistingFolder(cwd, given.cwd),
      mcpServers,
      addDirs: [...(given.addDirs ?? []), ...addDirs],
      which: resume === undefined ? {type: 'new'} : {type: 'resume', id: resume},
      ...(forks && {fork: {}}),
      editor,
      ...(showsForms && {driverIsAsked: 'questions' as const}),
    });
  const ended = serveAcp({
    open,
    mayBypass: driver?.mayBypass ?? false,
    input: Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    output: Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
    warn: (line) => process.stderr.write(`mini-cc: ${showControls(line)}\n`),
    eraseSession: (id, cwd = given.cwd) => eraseSession(host, cwd, id),
    hasModel: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'].some((name) => process.env[name]),
    listSessions: (cwd = given.cwd) => listSessions(host, cwd),
  });
  const leave = async () => {
    process.stdin.destroy();
    await ended;
  };
  onSignals(leave);
  // An editor that went away sends nothing more, but its end of standard input may stay open.
  pipes.onClosed = () => inBackground(leave(), neverRejects);
  await ended;
  return 0;
}
