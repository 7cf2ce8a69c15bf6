/** The rules of a session: from the command line, the settings, and what a person chose for good in this project. */
import type {LoadedSettings} from '../config/settings.ts';
import {RULE_KINDS, type Rule, type RuleKind, readRule} from '../core/permissions/rules/rule.ts';
import {RuleBook} from '../core/permissions/rules/rule-book.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {UsageError} from '../core/util/errors.ts';
import {TOOL_NAMES, toolName} from '../core/util/tool-names.ts';
import {SavedRules} from '../storage/saved-rules.ts';
import type {SessionOptions} from './options.ts';

/** What subagents may have at all. */
export function toolRules({settings: {subagents}}: LoadedSettings, rules: RuleBook) {
  const {allow, deny = []} = subagents?.tools ?? {};
  const forbidden = TOOL_NAMES.filter((tool) => rules.forbids(tool));
  return {deny: [...deny.map(toolName), ...forbidden], ...(allow === undefined ? {} : {allow: allow.map(toolName)})};
}

/**
 * @param place `folder` of the project's sessions, `root` of the project with links resolved
 * @throws UsageError for a rule of the command line that is none; those of files were checked where they were read
 */
export function rulesOf(
  options: SessionOptions,
  loaded: LoadedSettings,
  {folder, root, redactor}: {readonly folder: string; readonly root: string; readonly redactor: Redactor},
) {
  const kept = new SavedRules(folder, root, redactor);
  const {rules, warning} = kept.read();
  const all = [
    ...(options.allowedTools ?? []).map((text) => typed(text, 'allow', '--allowed-tools')),
    ...(options.disallowedTools ?? []).map((text) => typed(text, 'deny', '--disallowed-tools')),
    ...ofSettings(loaded),
    ...rules.flatMap((text) => known(text, 'allow', kept.source)),
  ];
  return {rules: new RuleBook(all, kept), warnings: warning === undefined ? [] : [warning]};
}

function typed(text: string, kind: RuleKind, source: string): Rule {
  const read = readRule(text);
  if (!('wrong' in read)) return {kind, text, source, ...read};
  throw new UsageError(`${source}: ${read.wrong}${read.meant === undefined ? '' : ` (did you mean ${read.meant}?)`}`);
}

/** Each with the file that it stands in. */
function ofSettings({origins}: LoadedSettings): Rule[] {
  return RULE_KINDS.flatMap((kind) =>
    origins
      .filter(({path}) => path.join('.') === `permissions.${kind}`)
      .flatMap(({value, from}) =>
        (value as readonly string[]).flatMap((text) => known(text, kind, from.map(({file}) => file).join(', '))),
      ),
  );
}

/** A rule that was checked before; one of a later version is left out. */
function known(text: string, kind: RuleKind, source: string): Rule[] {
  const read = readRule(text);
  return 'wrong' in read ? [] : [{kind, text, source, ...read}];
}
