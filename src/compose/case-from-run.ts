/** Serves `mini-cc agents test --from RUN`. */
import {realpathSync} from 'node:fs';
import path from 'node:path';
import type {CommandLineOutcome} from '../commands/shared/command-line.ts';
import {MiniCcError, UsageError} from '../core/util/errors.ts';
import {formatProblem} from '../core/util/problem.ts';
import {formatJson, showControls} from '../core/util/text.ts';
import {EVALS_FOLDER} from '../evals/case-file.ts';
import {addCase, type DraftedCase, draftCase} from '../evals/case-from-run.ts';
import {SessionStore} from '../storage/sessions/session-store.ts';
import type {TestFront} from './evals.ts';
import {ALL_TOOLS} from './known-tools.ts';
import {createSecrets, type SessionOptions} from './options.ts';

interface FromRunRequest {
  readonly run: string;
  readonly names: readonly string[];
  readonly json: boolean;
  readonly sure: boolean;
}

/** Shows the case, and adds it when the person agrees. @throws UsageError for bad usage */
export async function addCaseFromRun(
  options: SessionOptions,
  {run, names, json, sure}: FromRunRequest,
  {ask, signal}: TestFront,
): Promise<CommandLineOutcome> {
  const {home} = options;
  const root = realpathSync(options.cwd);
  const {redactor} = createSecrets(options, [], root);
  const store = new SessionStore(home, root, redactor);
  const drafted = await draftCase(run, {root, home, store, signal, tools: ALL_TOOLS}).catch((error: unknown) => {
    throw error instanceof MiniCcError && error.code === 'CASE'
      ? new UsageError(`--from: ${error.message}`, {cause: error})
      : error;
  });
  const {agent, fields, problems} = drafted;
  const [other] = names.filter((name) => name !== agent);
  if (other !== undefined) throw new UsageError(`--from: run ${run} is one of ${agent}, and not of ${other}`);
  if (problems.length > 0) throw new UsageError(problems.map(formatProblem).join('\n'));
  const shown = path.join(EVALS_FOLDER, `${agent}.json`);
  const text = showControls(describeCase(drafted, shown));
  if (!sure && ask && !json) process.stdout.write(`${text}\n`);
  const isMeant = sure || (await ask?.('Add this case? 1 yes, 4 no: ')) === true;
  const said =
    sure || json || !ask ? (json ? formatJson({agent, file: shown, added: isMeant, case: fields}) : text) : '';
  const stdout = said === '' ? '' : `${said}\n`;
  if (!isMeant) return {exitCode: 2, stdout, stderr: 'mini-cc: no case was added: --yes adds it\n'};
  await addCase(drafted, root);
  const next = `mini-cc: added to ${shown}: edit its checks, then mini-cc agents test ${agent} --case ${fields.id}\n`;
  return {exitCode: 0, stdout, stderr: next};
}

function describeCase({run, fields, patch, notes}: DraftedCase, shown: string): string {
  const {runId, agent, end} = run;
  const reason = end?.reason === undefined ? '' : `: ${end.reason}`;
  return [
    `Run ${runId} of ${agent} ended with ${end?.outcome ?? 'no end'}${reason}. As a case of ${shown}:`,
    JSON.stringify(fields, null, 2),
    ...(fields.patch === undefined ? [] : [`${fields.patch}:`, patch.toString().slice(0, 4000).trimEnd()]),
    ...notes.map((note) => `note: ${note}`),
  ].join('\n');
}
