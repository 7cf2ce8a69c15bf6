/** What tests of `mini-cc review` share: a repository with a change, and finders and verifiers that follow a script. */
import {onTestFinished} from 'vitest';
import {callTool, type MessagesBody, type Reply} from '../support/messages-server.ts';
import {emptyFolder, type Workspace} from '../support/workspace.ts';

export const PAY = `export function pay(amount: number): number {
  return amount;
}

export function refund(amount: number): number {
  return -amount;
}
`;

/** An empty folder that goes with the test. */
export async function testFolder(): Promise<Workspace> {
  const workspace = await emptyFolder();
  onTestFinished(workspace.remove);
  return workspace;
}

/** Commits all files of the folder, which becomes a repository at the first call. */
export async function commitAll({git}: Workspace, message: string): Promise<void> {
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', message);
}

/** A repository with one commit on main and a change that is not committed. */
export async function changedProject(): Promise<Workspace> {
  const workspace = await testFolder();
  await workspace.write('src/pay.ts', PAY);
  await workspace.write('src/shop.ts', "import {pay} from './pay.ts';\n\nexport const sold = pay(3);\n");
  await commitAll(workspace, 'Start');
  await workspace.write('src/pay.ts', PAY.replace('return amount;', 'return amount * 2;'));
  return workspace;
}

export const finding = (title: string, more: object = {}) => ({
  ...{severity: 'high', title, file: 'src/pay.ts', line: 2, why: `WHY ${title}`, failure: `FAILURE ${title}`},
  ...more,
});

export const textOf = (body: MessagesBody) => JSON.stringify(body);
export const isVerifier = (body: MessagesBody) => textOf(body).includes('Check this claim about a change');

/** Finders give these findings; verifiers the verdict for the title. */
export function reviewers(
  findings: readonly object[],
  verdict: (body: string) => string,
): (body: MessagesBody) => Reply {
  return (body) =>
    isVerifier(body)
      ? callTool('StructuredOutput', {verdict: verdict(textOf(body)), why: 'read it'})
      : callTool('StructuredOutput', {findings});
}
