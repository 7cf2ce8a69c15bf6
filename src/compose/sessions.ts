/** `mini-cc sessions …`: stored sessions, without opening one. */
import {realpathSync} from 'node:fs';
import type {CommandLineOutcome, SubcommandArguments} from '../commands/command-line.ts';
import {runSessionsCommandLine} from '../commands/sessions.ts';
import {SessionStore} from '../storage/sessions/session-store.ts';
import type {SessionOptions} from './options.ts';

/** @throws UsageError for bad usage or an unknown id. */
export function sessionsCommandLine(options: SessionOptions, args: SubcommandArguments): CommandLineOutcome {
  return runSessionsCommandLine(args, new SessionStore(options.home, realpathSync(options.cwd)));
}
