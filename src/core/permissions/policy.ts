/**
 * What an agent may do without asking, what is asked, what is refused.
 * Modes and rules decide here; who is asked, and how, is `questions.ts`.
 */
import {existsSync, lstatSync, readlinkSync, realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {MiniCcError} from '../errors.ts';
import type {PermissionMode} from '../events.ts';
import type {Access, Workspace} from '../tool.ts';
import {isInside, ownPath, type PermissionPlaces, placeOf, rootsOf} from './place-of.ts';

export interface PermitRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly title: string;
  readonly accesses: readonly Access[];
}

export type Permission = {readonly allowed: true} | {readonly allowed: false; readonly message: string};

/** Decides on one call; may wait for a person. Never rejects. */
export type Permit = (request: PermitRequest, signal: AbortSignal) => Promise<Permission>;

export type Verdict =
  | {readonly verdict: 'allow'}
  | {readonly verdict: 'ask'; readonly why: string}
  | {readonly verdict: 'deny'; readonly why: string};

export interface PermissionRules {
  /** Names of tools that pass without a question. */
  readonly allowed: ReadonlySet<string>;
  /** Names of tools that are refused. Wins over `allowed`. */
  readonly disallowed: ReadonlySet<string>;
}

/** The standing of one session: its mode, its rules, and what a person granted so far. */
export class PermissionPolicy {
  mode: PermissionMode;
  readonly #grants = new Set<string>();

  constructor(
    mode: PermissionMode,
    private readonly rules: PermissionRules,
    private readonly places: PermissionPlaces,
  ) {
    this.mode = mode;
  }

  /** Judges a call of an agent that works in `workspace`. Deny wins over ask, ask over allow. */
  decide(request: PermitRequest, workspace: Workspace): Verdict {
    if (this.rules.disallowed.has(request.tool)) {
      return {verdict: 'deny', why: `${request.tool} is not allowed in this session`};
    }
    const verdicts = request.accesses.map((access) => this.#judge(access, request.tool, workspace));
    return (
      verdicts.find(({verdict}) => verdict === 'deny') ??
      verdicts.find(({verdict}) => verdict === 'ask') ?? {verdict: 'allow'}
    );
  }

  /** From now on calls like this one pass for the rest of the session. */
  grant(request: PermitRequest, workspace: Workspace): void {
    for (const access of request.accesses) this.#grants.add(grantKey(access, workspace));
  }

  #judge(access: Access, tool: string, workspace: Workspace): Verdict {
    if (access.kind === 'none' || access.kind === 'dispatch') return {verdict: 'allow'};
    if (workspace.confinement === 'read-only') return judgeReadOnly(access, workspace, this.places);
    if (leavesWorktree(access, workspace)) return {verdict: 'deny', why: 'it writes outside of its worktree'};
    if (this.mode === 'bypassPermissions') return {verdict: 'allow'};
    if (this.mode === 'plan' && access.kind !== 'read') return {verdict: 'deny', why: 'plan mode changes nothing'};
    if (this.#grants.has(grantKey(access, workspace))) return {verdict: 'allow'};
    if (access.kind === 'run') {
      return this.rules.allowed.has(tool) ? {verdict: 'allow'} : {verdict: 'ask', why: 'runs a command'};
    }
    if (access.kind === 'fetch') return {verdict: 'ask', why: `fetches from ${access.host}`};
    const target = resolveLinks(access.path, workspace.cwd);
    if (access.kind === 'read') {
      const place = placeOf(target, workspace, this.places);
      if (place === 'secret') return {verdict: 'ask', why: `reads where keys are kept: ${target}`};
      if (place === 'outside') return {verdict: 'ask', why: `reads outside the workspace: ${target}`};
      return {verdict: 'allow'};
    }
    if (isProtected(ownPath(target, workspace))) return {verdict: 'ask', why: `writes a protected file: ${target}`};
    if (!isInside(target, rootsOf(workspace))) {
      return {verdict: 'ask', why: `writes outside the workspace: ${target}`};
    }
    if (this.mode === 'acceptEdits' || this.rules.allowed.has(tool) || this.#grants.has(EDITS)) {
      return {verdict: 'allow'};
    }
    return {verdict: 'ask', why: `writes ${path.relative(workspace.root, target)}`};
  }
}

const EDITS = 'edits inside the workspace';
/** Less than the above: they come back only where nobody else changed the files. */
const WORKTREE_EDITS = 'edits inside worktrees';

/** Not even where all else is allowed: a run with a worktree is there so that it cannot. */
function leavesWorktree(access: Access, workspace: Workspace): boolean {
  if (workspace.confinement !== 'worktree' || access.kind !== 'write') return false;
  return !isInside(resolveLinks(access.path, workspace.cwd), rootsOf(workspace));
}

/** What one `yes for this session` covers: this very command, or all edits inside the workspace, or this folder. */
function grantKey(access: Access, workspace: Workspace): string {
  switch (access.kind) {
    case 'run':
      return `run ${access.command}`;
    case 'fetch':
      return `fetch ${access.host}`;
    case 'write': {
      const target = resolveLinks(access.path, workspace.cwd);
      const ordinary = !isProtected(ownPath(target, workspace)) && isInside(target, rootsOf(workspace));
      if (!ordinary) return `write ${target}`;
      return workspace.confinement === 'worktree' ? WORKTREE_EDITS : EDITS;
    }
    case 'read':
      return `read ${path.dirname(resolveLinks(access.path, workspace.cwd))}`;
    default:
      return access.kind;
  }
}

/** The words beside `2`, so that a person knows what the yes covers. */
export function grantWords(request: PermitRequest, workspace: Workspace): string {
  const keys = new Set(request.accesses.map((access) => grantKey(access, workspace)));
  const [key = ''] = keys;
  if (key === EDITS) return 'yes, all edits in this workspace for this session';
  if (key === WORKTREE_EDITS) return 'yes, all edits in worktrees for this session';
  if (key.startsWith('run ')) return 'yes, this command for this session';
  return 'yes, for this session';
}

/** A read-only agent never asks: it may read the workspace, its bash is held by the sandbox, all else is refused. */
function judgeReadOnly(access: Access, workspace: Workspace, places: PermissionPlaces): Verdict {
  if (access.kind === 'run') return {verdict: 'allow'};
  if (access.kind === 'write') return {verdict: 'deny', why: 'this agent is read-only'};
  if (access.kind === 'fetch') return {verdict: 'deny', why: 'a read-only agent does not reach the network'};
  if (access.kind !== 'read') return {verdict: 'allow'};
  const target = resolveLinks(access.path, workspace.cwd);
  const place = placeOf(target, workspace, places);
  if (place === 'secret') return {verdict: 'deny', why: `${target} is where keys are kept`};
  if (place !== 'outside') return {verdict: 'allow'};
  return {verdict: 'deny', why: `${target} is outside the workspace, and a read-only agent does not ask`};
}

/** Links beyond which a path goes round in circles, as in the kernel. */
const MOST_LINKS = 40;

/**
 * Absolute, with links resolved, also one that leads to nothing yet: what a write would really make.
 * @throws MiniCcError `LINKS` for links that go round in circles.
 */
export function resolveLinks(target: string, cwd: string, followed = 0): string {
  if (followed > MOST_LINKS) throw new MiniCcError('LINKS', `${target}: too many links`);
  const home = target === '~' || target.startsWith('~/') ? path.join(homedir(), target.slice(1)) : target;
  let existing = path.resolve(cwd, home);
  const rest: string[] = [];
  while (!lstatSync(existing, {throwIfNoEntry: false}) && path.dirname(existing) !== existing) {
    rest.unshift(path.basename(existing));
    existing = path.dirname(existing);
  }
  if (existsSync(existing)) return path.join(realpathSync(existing), ...rest);
  const aim = path.resolve(path.dirname(existing), readlinkSync(existing));
  return resolveLinks(path.join(aim, ...rest), cwd, followed + 1);
}

const PROTECTED_FOLDERS = ['.git', '.mini-cc', '.claude', '.ssh', '.gnupg', '.aws'];
const PROTECTED_FILES = new Set([
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.zshrc', '.zprofile', '.zshenv'],
  ...['.netrc', '.npmrc', '.gitconfig', '.gitmodules', '.git-credentials', '.envrc'],
]);

/** Is always asked for before it is written. @param target absolute, links resolved */
export function isProtected(target: string): boolean {
  // Some file systems take `.GIT` for `.git`.
  const parts = target.toLowerCase().split('/');
  return (
    PROTECTED_FOLDERS.some((folder) => parts.includes(folder)) ||
    PROTECTED_FILES.has(path.basename(target).toLowerCase())
  );
}
