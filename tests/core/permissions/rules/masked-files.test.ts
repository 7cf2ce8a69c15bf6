import {mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {AllowedCall, Workspace} from '../../../../src/core/contract/permission.ts';
import {findMaskedFiles} from '../../../../src/core/permissions/rules/masked-files.ts';
import {createSandbox} from '../../../../src/sandbox/index.ts';
import {Launcher} from '../../../../src/sandbox/launch/launch.ts';
import {ProcessGroups} from '../../../../src/sandbox/launch/process-groups.ts';
import {permissionFixture, ruleBook} from '../fixture.ts';

const {permitFixture, workspace} = permissionFixture();

const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-masked-')));
const root = path.join(base, 'work');
for (const folder of ['sub/deep', 'keys/a', '.git', 'node_modules/x']) {
  mkdirSync(path.join(root, folder), {recursive: true});
}
for (const file of ['.env', 'sub/deep/.env', 'keys/a/id', 'a.ts', '.git/.env', 'node_modules/x/.env', '../shared']) {
  writeFileSync(path.join(root, file), `text of ${file}\n`);
}
symlinkSync('../shared', path.join(root, 'linked.env'));
symlinkSync('nowhere', path.join(root, 'broken.env'));
const here: Workspace = {...workspace, root, cwd: root};
const inHere = (paths: readonly string[]) => paths.map((each) => path.join(root, each));

describe('the files that deny rules for reading name', () => {
  it('are listed by name, as whole folders where all in them is denied, and where a link leads', () => {
    const find = (...deny: string[]) => findMaskedFiles(ruleBook({deny}), here);
    expect(find('bash(rm:*)', 'edit_file(.env)')).toBeUndefined();
    expect(find('read_file(.env)')).toEqual({paths: inHere(['.env', 'sub/deep/.env'])});
    expect(find('read_file(keys/**)', 'read_file(.git)')).toEqual({paths: inHere(['.git', 'keys'])});
    expect(find('read_file(*.env)')?.paths.toSorted()).toEqual(inHere(['../shared', '.env', 'sub/deep/.env']));
    expect(find(`read_file(/${base}/shared)`)).toEqual({paths: [path.join(base, 'shared')]});
  });

  it('are at most 1000; the result says so when there are more', () => {
    const many = path.join(base, 'many');
    mkdirSync(many);
    for (let index = 0; index < 1002; index += 1) writeFileSync(path.join(many, `${index}.key`), '');
    const found = findMaskedFiles(ruleBook({deny: ['read_file(*.key)']}), {...here, root: many});
    expect(found?.paths).toHaveLength(1000);
    expect(found?.note).toContain('more than 1000 files match them');
  });

  it('are empty for each confined command, and there for a plain one', async () => {
    const {permit} = permitFixture({
      rules: {deny: ['read_file(.env)', 'read_file(keys/**)'], allow: ['bash']},
      in: {...here, confinement: 'read-only'},
    });
    const command = 'f=$(echo env); cat .$f a.ts sub/deep/.$f 2>/dev/null; ls -A ke*s';
    const access = {kind: 'run', command} as const;
    const request = {callId: 'c', input: {}, tool: 'bash', title: 't', accesses: [access]};
    const decision = (await permit(request, new AbortController().signal)) as AllowedCall;
    expect(decision.attempts).toMatchObject([
      {launch: 'read-only', masked: {paths: inHere(['.env', 'keys', 'sub/deep/.env'])}},
    ]);
    const sandbox = createSandbox({home: homedir(), miniCcHome: path.join(base, 'home')});
    const launcher = new Launcher(sandbox, new ProcessGroups());
    const read = async (attempt: AllowedCall['attempts'][number]) => {
      let text = '';
      const onText = (piece: string) => {
        text += piece;
      };
      const {signal} = new AbortController();
      const env = {PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: homedir()};
      await launcher.run({command, attempt, workspace: {...here, env}, signal, timeoutMs: 20_000, onText});
      return text;
    };
    expect(await read(decision.attempts[0])).toBe('text of a.ts\n');
    expect(await read({launch: 'plain', checkpoint: false})).toBe(
      'text of .env\ntext of a.ts\ntext of sub/deep/.env\na\n',
    );
  });
});
