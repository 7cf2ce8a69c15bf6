/**
 * Runs an agent that changes code, then the checks of the project. Failures that the change caused go back to the
 * agent.
 */
import {type AgentRun, runAgent} from '../agent-loop.ts';
import type {RunResult} from '../contract/results.ts';
import type {Tool} from '../contract/tool.ts';
import {joinTurns} from '../turn/run-ending.ts';
import {formatChecks, formatFailures} from './check-run.ts';
import {getNewFailures, NO_CHECKS, type Verification, type Verifier} from './verifier.ts';

/**
 * Runs the agent and verifies what it changed. Never rejects.
 * @param bash runs the checks, even when the agent itself has no bash
 */
export async function runVerified(run: AgentRun, verifier: Verifier, bash: Tool): Promise<RunResult> {
  const verification = await verifier.begin({...run, tools: [bash]}, run.signal);
  const result = await runAgent(run);
  if (!verification || run.signal.aborted || !hasChanged(result)) return result;
  if (verification.commands.length === 0) return withLines(result, [NO_CHECKS]);
  return repair(result, run, verification, verifier.rounds);
}

async function repair(first: RunResult, run: AgentRun, verification: Verification, rounds: number): Promise<RunResult> {
  let result = first;
  let checks = await verification.check();
  for (let round = 0; round < rounds && result.outcome === 'success' && !run.signal.aborted; round += 1) {
    const failures = getNewFailures(checks);
    if (failures.length === 0) break;
    const content = formatFailures(failures, []);
    run.history.append({role: 'user', content});
    run.emit({type: 'message', role: 'user', content});
    result = joinTurns(result, await runAgent(run));
    checks = await verification.check();
  }
  return withLines(result, formatChecks(checks));
}

function hasChanged({tools}: RunResult): boolean {
  return tools.some(({facts}) => (facts.changed?.length ?? 0) > 0);
}

function withLines(result: RunResult, lines: readonly string[]): RunResult {
  return {...result, text: [result.text, lines.join('\n')].filter((text) => text !== '').join('\n\n')};
}
