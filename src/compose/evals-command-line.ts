/** Serves `mini-cc agents test …` and `mini-cc skills test …`. */
import {askInTerminal, type CommandLineOutcome, type SubcommandArguments} from '../commands/shared/command-line.ts';
import {formatJson, showControls} from '../core/util/text.ts';
import {formatTestResult} from '../evals/results.ts';
import {type TestFlags, type TestRequest, testSubjects} from './evals.ts';
import type {SessionOptions} from './options.ts';
import {composeAll} from './session.ts';

interface TestArguments extends SubcommandArguments {
  readonly test?: TestFlags;
}

/** Runs `mini-cc agents test …` and `mini-cc skills test …`. @throws UsageError for bad usage */
export async function testCommandLine(
  options: SessionOptions,
  {words, json, sure, test = {fresh: false, regrade: false}}: TestArguments,
  kind: TestRequest['kind'],
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const canAsk = process.stdin.isTTY && process.stderr.isTTY;
  const ask = async (question: string) => (await askInTerminal(question, stopping)) === true;
  try {
    const front = {say, signal: stopping.signal, ask: canAsk ? ask : undefined};
    if (test.from !== undefined) {
      const {addCaseFromRun} = await import('./case-from-run.ts');
      return await addCaseFromRun(options, {run: test.from, names: words, json, sure}, front);
    }
    const end = await testSubjects(composeAll, options, {kind, names: words, sure, flags: test}, front);
    const {exitCode} = end;
    if ('errors' in end) return {exitCode, stdout: '', stderr: end.errors.map((line) => `mini-cc: ${line}\n`).join('')};
    const {agents, ...rest} = end.result;
    const data = kind === 'skills' ? {skills: agents, ...rest} : end.result;
    const text = json ? formatJson(data) : showControls(formatTestResult(end.result));
    return {exitCode, stdout: `${text}\n`, stderr: ''};
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
}
