/** What the answer "yes for this session" covers, and what it does not. */
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Access} from '../../../src/core/contract/permission.ts';
import {describeGrant, EDITS, WORKTREE_EDITS} from '../../../src/core/permissions/grants.ts';
import {permissionSandbox} from '../../support/sandbox.ts';
import {createPolicy, permissionFixture} from './fixture.ts';

const {outside, workspace} = permissionFixture();

mkdirSync(path.join(outside, 'logs'));
writeFileSync(path.join(outside, '.netrc'), '');
const keys = path.join(outside, '.netrc');
const agent = {sandbox: permissionSandbox()};

const reading = (place: string, tool = 'read_file') => requestFor({kind: 'read', path: place}, tool);

function requestFor(access: Access, tool: string) {
  return {callId: 'c', input: {}, tool, title: 't', accesses: [access]};
}

describe('the answer "yes for this session"', () => {
  const policy = () => createPolicy({secretPaths: [keys]});

  it('for a file covers the folder of the file, but no keys in it', async () => {
    const here = policy();
    const note = reading(path.join(outside, 'note'));
    expect(here.describeGrant(note, workspace)).toBe(`yes, reading in ${outside} for this session`);
    here.grant(note, workspace);
    const verdictOn = async (place: string) => (await here.judge(reading(place), workspace, agent)).verdict;
    expect(await verdictOn(path.join(outside, 'other'))).toBe('allow');
    expect(await verdictOn(keys)).toBe('ask');
    here.grant(reading(keys), workspace);
    expect(await verdictOn(keys)).toBe('allow');
  });

  it('for a search covers the folder that is searched, not the one above', async () => {
    const here = policy();
    const search = reading(path.join(outside, 'logs'), 'grep');
    expect(here.describeGrant(search, workspace)).toBe(`yes, reading in ${outside}/logs for this session`);
    here.grant(search, workspace);
    expect((await here.judge(search, workspace, agent)).verdict).toBe('allow');
    expect((await here.judge(reading(path.join(outside, 'note')), workspace, agent)).verdict).toBe('ask');
  });

  it.each([
    [EDITS, 'yes, all edits in this workspace for this session'],
    [WORKTREE_EDITS, 'yes, all edits in worktrees for this session'],
    ['run npm test', 'yes, this command for this session'],
    ['fetch example.com', 'yes, all of example.com for this session'],
    ['tool mcp__a__b', 'yes, this tool for this session'],
    ['read in /logs', 'yes, reading in /logs for this session'],
    ['write /a', 'yes, writing this file for this session'],
    ['dispatch', 'yes, for this session'],
  ])('for %j is offered as "%s"', (grant, label) => {
    expect(describeGrant(grant)).toBe(label);
  });

  it('for a protected file says that it covers this file alone', () => {
    const write = requestFor({kind: 'write', path: '.git/config'}, 'write_file');
    expect(policy().describeGrant(write, workspace)).toBe('yes, writing this file for this session');
  });
});
