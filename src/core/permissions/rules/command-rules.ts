/** Judges a command by the deny and ask rules: for its parts, in every spelling, and for the files that its words show. */
import type {Verdict} from '../../contract/permission.ts';
import type {PermissionContext} from '../context.ts';
import {expandPattern, listFilesBelow} from '../files/file-patterns.ts';
import {resolveLinks} from '../files/paths.ts';
import type {ReadCommand} from '../shell/command-parser.ts';
import {findNamedFiles} from '../shell/named-files.ts';
import {NotProven} from '../shell/shell-words.ts';
import {ALLOWED, combineVerdicts, deny, type Restriction} from '../verdict.ts';
import {couldMatchCommand, matchesCommand} from './command-rule.ts';
import {Spellings} from './command-spellings.ts';
import {formatRule} from './rule.ts';

/** Judges by the deny and ask rules for the command's parts, and for the files that the command line names. */
export async function judgeByRules(command: ReadCommand, context: PermissionContext): Promise<Restriction | undefined> {
  const {rules, mode, neverAsks} = context;
  const [denies, asks] = [rules.getPatternRules(['bash'], 'deny'), rules.getPatternRules(['bash'], 'ask')];
  if (denies.length + asks.length > 0) {
    const {texts, starts, why} = await getAllSpellings(command);
    const denied = denies.find(({pattern}) => texts.some((text) => matchesCommand(pattern, text)));
    if (denied) return {verdict: 'deny', because: `${formatRule(denied)} refuses it`};
    const doubted = denies.find(({pattern}) => starts.some((start) => couldMatchCommand(pattern, start)));
    if (doubted) {
      const because = `${why}, so it is not known whether ${formatRule(doubted)} refuses it`;
      return mode !== 'bypassPermissions' && !neverAsks
        ? {verdict: 'ask', because, onlyOnce: true}
        : {verdict: 'deny', because: `${because}: write it plainly`};
    }
    const asked = asks.find(({pattern}) => texts.some((text) => matchesCommand(pattern, text)));
    if (asked) return {verdict: 'ask', because: `runs a command: ${formatRule(asked)}`, onlyOnce: true};
  }
  return judgeVisibleFiles(command, context);
}

/** `starts`: what comes first in further texts, whose rest is not known; `why` it is not. */
async function getAllSpellings({
  text,
  parsed,
}: ReadCommand): Promise<{texts: readonly string[]; starts: readonly string[]; why: string}> {
  const whole = text.trim();
  if (parsed instanceof NotProven) {
    return {texts: [whole], starts: [''], why: `the command is not understood (${parsed.message})`};
  }
  const spellings = new Spellings();
  await spellings.addCommand(parsed);
  const why = 'a part of it is known only when it runs';
  return {texts: [whole, ...spellings.texts], starts: [...spellings.starts], why};
}

/** Judges the files that the command line shows to be read or written by the rules about files. */
function judgeVisibleFiles({parsed}: ReadCommand, context: PermissionContext): Restriction | undefined {
  const {rules} = context;
  const tools = ['read_file', 'edit_file'];
  if (rules.getPatternRules(tools, 'deny').length + rules.getPatternRules(tools, 'ask').length === 0) return undefined;
  // A command that is not understood was judged as that.
  if (parsed instanceof NotProven) return undefined;
  const {reads, globs, searches, writes} = findNamedFiles(parsed);
  const {cwd} = context.workspace;
  const matching = globs.flatMap((pattern) => expandPattern(pattern, cwd, true) ?? []);
  const found = searches.flatMap((folder) => listFilesBelow(resolveLinks(folder, cwd)));
  const verdict = combineVerdicts([
    ...[...reads, ...matching, ...found].map((target) => judgeByFileRules('read_file', target, context)),
    ...writes.map((target) => judgeByFileRules('edit_file', target, context)),
  ]);
  return verdict.verdict === 'allow' ? undefined : verdict;
}

function judgeByFileRules(tool: string, given: string, {rules, workspace}: PermissionContext): Verdict {
  const target = resolveLinks(given, workspace.cwd);
  const denied = rules.findFileRule(tool, 'deny', [target], workspace.root);
  if (denied) return deny(`${formatRule(denied)} refuses ${target}`);
  const asked = rules.findFileRule(tool, 'ask', [target], workspace.root);
  return asked
    ? {verdict: 'ask', because: `runs a command on ${target}: ${formatRule(asked)}`, onlyOnce: true}
    : ALLOWED;
}
