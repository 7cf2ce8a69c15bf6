/**
 * Patterns for English prompts. A verb counts where it stands as a command, not as a noun ("the update of all files").
 */
import {PATH, type PromptLanguage, QUOTED, word} from './language.ts';

const ALL =
  "(?:all|every|each)(?:\\s+(?:single|one|and\\s+every|of))*(?:\\s+(?:the|my|our|your|these|those|its|this\\s+project['’]s))*";
/** Words between "all" and its unit: adjectives and names, but no words that begin another part of the sentence. */
const BETWEEN =
  '(?:\\s+(?!(?:in|of|to|that|which|who|and|or|with|for|from|by|is|are|was|were|be|the|a|an|it|things?|times?)(?![\\p{L}\\p{N}_]))[\\p{L}\\p{N}_+#.*/-]+){0,4}?';
const FILES = `files?|source\\s+code|sources|${PATH}`;
const CODE =
  'functions?|methods?|class(?:es)?|modules?|components?|interfaces?|types?|structs?|enums?|traits?|tests?|imports?|' +
  'exports?|comments?|docstrings?|variables?|constants?|endpoints?|routes?|handlers?|hooks?|scripts?|packages?|headers?|' +
  'callbacks?|constructors?|controllers?|services?|models?|views?|templates?|schemas?|tools?|commands?|calls?|call\\s+sites?|' +
  'usages?|uses|occurrences?|references?|identifiers?|declarations?|statements?';
const CHANGE_VERBS =
  'refactor|rename|replace|update|add|change|modify|edit|fix|convert|migrate|rewrite|format|reformat|improve|optimi[sz]e|' +
  'simplify|clean|document|annotate|comment|translate|port|upgrade|downgrade|remove|delete|insert|append|prepend|move|extract|' +
  'inline|split|merge|wrap|unwrap|adapt|adjust|apply|use|switch|swap|rework|restructure|reorgani[sz]e|sort|type|implement|' +
  'introduce|enforce|standardi[sz]e|normali[sz]e|moderni[sz]e|make|ensure|put|set|turn|transform|tidy|lint|polish|strip|drop|' +
  'deprecate|bump|correct|patch|harden|sanitize|escape|mark|prefix|suffix|capitali[sz]e|lowercase|indent|write|generate|create|' +
  'instrument|give|go|prettify|dedupe|deduplicate|unify|redo|revise|rephrase|shorten|license|pin';
const CHECK_VERBS = 'review|check|audit|analy[sz]e|inspect|verify|proofread|validate|scan|examine|test|process|handle';
const READ_VERBS =
  'explain|list|show|find|search|count|describe|summari[sz]e|tell|print|open|read|look|display|grep|locate|name|enumerate|' +
  'compare|explore|understand|give|get|see|report|identify|figure|remember|know|think|help\\s+me\\s+understand';
const HANDLE_VERBS =
  'delete|remove|move|copy|commit|push|stage|unstage|zip|compress|upload|download|run|execute|install|restore|revert|discard|' +
  'ignore|stash|archive|backup|save|close|open|list|print|add|include|exclude|import|load|fetch|read|keep|track|untrack|select|' +
  'touch|chmod|checkout|create|generate';
/**
 * Sentences about what a program should do or how files are: "the tool should process all files", "every file is
 * broken".
 */
const STATEMENT = `^(?:the|this|that|it|its|our|my|an?)(?![\\p{L}\\p{N}_])[^,;:]{0,80}?\\s(?:should|must|shall|has\\s+to|needs\\s+to|ought\\s+to|will|can|could|may|might)\\s[^,;:]*?${ALL}|^${ALL}${BETWEEN}\\s+(?:${FILES})\\s+(?:is|are|was|were|has|have|had|does|do|did|seems?|looks?|fails?|breaks?|contains?|gets?|can(?:not)?|could|would|may|might|will)`;
/** Text before a verb in the imperative. */
const BEGIN =
  "(?:^|[,;:(—–]|(?<![\\p{L}\\p{N}_])(?:and|then|to|please|also|now|just|you|should|must|we|let['’]?s|or|but|first|next|finally|kindly|simply|go|help\\s+me))\\s*(?:(?!only)\\p{L}+ly\\s+)?";

function imperative(verbs: string): RegExp {
  return new RegExp(
    `(?<!(?:n['’]t|not|never|without)\\s{1,3}(?:\\p{L}{1,12}\\s{1,3})?)${BEGIN}(?<!(?:n['’]t|not|never)\\s{1,3})(?:${verbs})(?![\\p{L}\\p{N}_-])`,
    'iu',
  );
}

export const english: PromptLanguage = {
  quantified: {
    files: word(`${ALL}${BETWEEN}\\s+(?:${FILES})`),
    code: word(`${ALL}${BETWEEN}\\s+(?:${CODE})`),
  },
  changes: imperative(CHANGE_VERBS),
  checks: imperative(CHECK_VERBS),
  reads: new RegExp(`^(?:${READ_VERBS})(?![\\p{L}\\p{N}_])`, 'iu'),
  thenChanges: new RegExp(
    `(?:[,;]|(?<![\\p{L}\\p{N}_])(?:and|then))\\s*(?:(?:and|then|also)\\s+)*(?:${CHANGE_VERBS})(?![\\p{L}\\p{N}_])`,
    'iu',
  ),
  handles: new RegExp(
    `(?:^|[,;:]|(?<![\\p{L}\\p{N}_])(?:and|then|to|please))\\s*(?:git\\s+)?(?:${HANDLE_VERBS})\\s+${ALL}${BETWEEN}\\s+(?:${FILES}|tests?|scripts?|packages?|commands?|${QUOTED})(?![\\p{L}\\p{N}_])(?!\\s+(?:to|so\\s+that)\\s+(?:use|${CHANGE_VERBS}))`,
    'iu',
  ),
  asks: /^(?:why|what|how|which|who|whom|whose|when|where|is|are|was|were|am|does|do|did|has|have|had|should|shall|may|isn['’]t|aren['’]t|don['’]t\s+all|doesn['’]t)(?![\p{L}\p{N}_])/iu,
  requests: /^(?:can|could|would|will|may)\s+(?:you|we|i)(?![\p{L}\p{N}_])/iu,
  wishes: word(
    `(?:make|get|have|let|ensure|sure|see|want|wish|need|hope|like|so\\s+that|until|bring)(?![\\p{L}\\p{N}_])[^.!?;]*${ALL}[^.!?;]*\\s(?:pass(?:es|ing)?|works?|working|compil(?:e|es|ing)|builds?|building|succeeds?|green|runs?|running|fail(?:s|ing)?|happy)`,
  ),
  aside: word(
    `(?:in|of|within|inside|from)\\s+(?:this|the\\s+current|the\\s+open|that)\\s+(?:file|function|class|module|component)|(?:(?:that|which|who)|so\\s+that\\s+\\p{L}+)\\s+\\p{L}+\\s+${ALL}|${STATEMENT}`,
  ),
};
