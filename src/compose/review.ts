/** Serves `mini-cc review …`. */
import {version} from '../../package.json';
import type {CommandLineOutcome} from '../commands/shared/command-line.ts';
import {NO_SUBAGENTS} from '../core/runs/delegation-log.ts';
import {formatJson, showControls} from '../core/util/text.ts';
import type {ReviewArguments, ReviewFront} from '../review/command.ts';
import {createReviewDeps} from './commands.ts';
import type {SessionOptions} from './options.ts';

export type ReviewCommandLine = ReviewArguments & Pick<ReviewFront, 'say' | 'ask'> & {readonly json: boolean};

/** Runs `mini-cc review …`. @throws UsageError for bad usage and wrong settings */
export async function reviewCommandLine(
  options: SessionOptions,
  {json, say, ask, ...args}: ReviewCommandLine,
  onSession: (close: () => Promise<void>) => void,
): Promise<CommandLineOutcome> {
  const [{composeAll}, {review}, {createSession}, {createProgress}] = await Promise.all([
    import('./session.ts'),
    import('../review/command.ts'),
    import('../core/session.ts'),
    import('../drivers/progress.ts'),
  ]);
  const {parts, composed} = await composeAll(options);
  const session = createSession(parts);
  const ending = new AbortController();
  onSession(async () => {
    ending.abort(new Error('stopped'));
    await session.close();
  });
  try {
    for (const warning of session.info.warnings) say(`mini-cc: ${warning}`);
    session.subscribe(createProgress(say));
    const deps = createReviewDeps(composed);
    const done = await review(args, deps, {version, say, ask, signal: ending.signal});
    if (!json || !done.review) return {exitCode: done.exitCode, stdout: `${showControls(done.text)}\n`, stderr: ''};
    const {toJson} = await import('../review/report.ts');
    const {toSummaryObject} = await import('../drivers/json-output.ts');
    const summary = toSummaryObject(done.review.summary ?? NO_SUBAGENTS);
    return {exitCode: done.exitCode, stdout: `${formatJson(toJson(done.review, summary))}\n`, stderr: ''};
  } finally {
    await session.close();
  }
}
