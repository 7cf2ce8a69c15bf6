/** A workspace on disk with links in it, a folder outside, and helpers that judge and decide on calls there. */
import {mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import type {AgentEventBody, PermissionMode} from '../../../src/core/contract/events.ts';
import type {Access, BeforeCall, Denial, RuleKind, Workspace} from '../../../src/core/contract/permission.ts';
import type {AgentPermissions} from '../../../src/core/permissions/context.ts';
import {createPermit, type PermitAgent} from '../../../src/core/permissions/decision.ts';
import {PermissionPolicy} from '../../../src/core/permissions/policy.ts';
import {Questions} from '../../../src/core/permissions/questions.ts';
import {createRule} from '../../../src/core/permissions/rules/rule.ts';
import {RuleBook, type RuleStore} from '../../../src/core/permissions/rules/rule-book.ts';
import {permissionSandbox} from '../../support/sandbox.ts';

export type Rules = Partial<Record<RuleKind, readonly string[]>>;

export function ruleBook(rules: Rules = {}, store?: RuleStore): RuleBook {
  const all = (['allow', 'ask', 'deny'] as const).flatMap((kind) =>
    (rules[kind] ?? []).map((text) => createRule(text, kind, 'a test', ALL_TOOLS)),
  );
  return new RuleBook(all, ALL_TOOLS, store);
}

export interface DecideOptions {
  readonly mode?: PermissionMode;
  readonly rules?: Rules;
  readonly tool?: string;
  readonly in?: Workspace;
  readonly agent?: Partial<AgentPermissions>;
  readonly secretPaths?: readonly string[];
  readonly systemFolders?: readonly string[];
  readonly ownFolders?: readonly string[];
  /** Whether a sandbox works here; default: true. */
  readonly sandbox?: boolean;
  /** The settings say `sandbox.container: true`. */
  readonly container?: boolean;
  /** Where rules are saved. */
  readonly store?: RuleStore;
}

const TOOLS = {
  run: 'bash',
  read: 'read_file',
  write: 'edit_file',
  fetch: 'web_fetch',
  dispatch: 'Task',
  none: 'todo_write',
  mcp: 'mcp__notes__add',
};

/** @returns a new workspace with a folder outside, for the test file that calls it, and helpers that decide on calls there */
export function permissionFixture() {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-permissions-')));
  const root = path.join(base, 'work');
  const outside = path.join(base, 'outside');
  for (const folder of [root, outside]) mkdirSync(folder);
  writeFileSync(path.join(outside, 'secret'), 'x');
  const links = {link: outside, dangling: path.join(outside, 'not-yet'), circle: 'circle'};
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name));
  const env = {PATH: '/usr/bin:/bin', HOME: path.join(base, 'home')};
  const workspace: Workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env};

  const decide = async (access: Access, options: DecideOptions = {}) => {
    const {sandbox = true, agent = {}, tool = TOOLS[access.kind]} = options;
    const request = {callId: 'c', input: {}, tool, title: 't', accesses: [access]};
    return createPolicy(options).judge(request, options.in ?? workspace, {
      sandbox: {...permissionSandbox(sandbox, options.secretPaths), ...(options.container && {isContainer: true})},
      ...agent,
    });
  };
  const verdict = async (mode: PermissionMode, access: Access, options: DecideOptions = {}) =>
    (await decide(access, {mode, tool: 'a_tool', ...options})).verdict;
  /** The verdict on a bash command. */
  const run = async (command: string, options: DecideOptions & {readonly unconfined?: boolean} = {}) =>
    decide({kind: 'run', command, ...(options.unconfined && {unconfined: true})}, options);
  const permitFixture = (options: PermitOptions = {}) => createPermitFixture(options.in ?? workspace, options);
  return {base, root, outside, workspace, decide, verdict, run, permitFixture};
}

export function createPolicy(options: DecideOptions): PermissionPolicy {
  const {mode = 'default', rules = {}, secretPaths = [], systemFolders = [], ownFolders = [], store} = options;
  return new PermissionPolicy(mode, ruleBook(rules, store), {ownFolders: () => ownFolders, secretPaths, systemFolders});
}

interface PermitOptions extends DecideOptions {
  readonly interactive?: boolean;
  readonly agent?: PermitAgent;
  readonly beforeCall?: readonly BeforeCall[];
  readonly answerCall?: BeforeCall;
}

function createPermitFixture(workspace: Workspace, options: PermitOptions) {
  const {interactive = true, store, agent, beforeCall = [], answerCall} = options;
  const events: AgentEventBody[] = [];
  const denials: Denial[] = [];
  const questions = new Questions();
  const rules = ruleBook(options.rules, store);
  const policy = new PermissionPolicy(options.mode ?? 'default', rules, {ownFolders: () => [], secretPaths: []});
  const deps = {
    policy,
    questions: interactive ? questions : undefined,
    onDenied: (denial: Denial) => void denials.push(denial),
    sandbox: permissionSandbox(options.sandbox),
    beforeCall,
    answerCall,
  };
  const emit = (event: AgentEventBody) => void events.push(event);
  const permit = createPermit(deps, '[code] fix it', workspace, emit, agent);
  return {permit, events, denials, questions, policy};
}
