/** Tests an agent by its cases, for programs: what `mini-cc agents test NAME --json` does. */

import {UsageError} from '../core/util/errors.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {checkCount, checkFolders, toSessionOptions} from './compose-session.ts';
import type * as shipped from './public.d.ts';

export async function testAgent(
  name: string,
  options: shipped.TestAgentOptions = {},
): Promise<shipped.AgentTestResult> {
  const {model, trials, baseline, judge, maxBudgetUsd, yes = false, trust, fresh = false, regrade = false} = options;
  if (typeof name !== 'string' || name.trim() === '') throw new UsageError('testAgent needs the name of an agent');
  checkCount('trials', trials);
  checkFolders(options);
  const [{testSubjects}, {composeAll}] = await Promise.all([
    import('../compose/evals.ts'),
    import('../compose/session.ts'),
  ]);
  const session = {...toSessionOptions(options), ...withoutUndefined({model, maxBudgetUsd, trust})};
  const {record, replay, case: only} = options;
  const flags = {...withoutUndefined({trials, baseline, judge, record, replay, case: only}), fresh, regrade};
  const front = {say: options.onLine ?? (() => undefined), signal: options.signal ?? new AbortController().signal};
  const end = await testSubjects(composeAll, session, {kind: 'agents', names: [name], sure: yes, flags}, front);
  if ('errors' in end) throw new UsageError(end.errors.join('\n'));
  return end.result;
}
