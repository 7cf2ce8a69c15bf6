/**
 * Computes the default limits of runs by the kind of agent, and in the `graded` profile also by the size of the task.
 */
import type {Limits, NamedLimits, RunLimits} from '../contract/results.ts';

type LimitProfile = 'standard' | 'graded';

export interface LimitSettings {
  readonly profile: LimitProfile;
  /** Limits by the name of the agent. */
  readonly agents: Readonly<Record<string, NamedLimits | undefined>>;
  /** Limit for all agents. */
  readonly contextTokens?: number | undefined;
}

export type Complexity = 'simple' | 'moderate' | 'complex';

/** Seconds of wall time in the `standard` profile. */
const STANDARD_SECONDS = {code: 900, other: 300, background: 1800};
const STANDARD_TURNS = 50;

/** In the `graded` profile: turns of a moderate task of 200 characters, and seconds. */
const GRADED: ReadonlyMap<string, readonly [turns: number, seconds: number]> = new Map([
  ['explore', [8, 30]],
  ['code-explore', [8, 60]],
  ['doc-reader', [6, 60]],
  ['code-review', [12, 60]],
  ['reviewer', [12, 60]],
  ['coder', [15, 90]],
  ['code', [15, 90]],
  ['debugger', [15, 60]],
]);
/** All others, `plan` and `architect` among them. */
const OTHERS = [10, 60] as const;
const FACTORS: Readonly<Record<Complexity, number>> = {simple: 0.5, moderate: 1, complex: 1.5};
const MIN_TURNS = 3;
const MAX_TURNS = 30;

/** Each limit comes from the first of these that has it: task call, definition, settings, profile. */
export function getLimits(
  settings: LimitSettings,
  agent: NamedLimits & {readonly name: string},
  task: NamedLimits & {readonly prompt: string; readonly background?: boolean},
): RunLimits {
  const profile = profileLimits(settings.profile, agent.name, task.prompt, task.background ?? false);
  const layers = [task, agent, Object.hasOwn(settings.agents, agent.name) ? settings.agents[agent.name] : {}];
  const first = (key: keyof NamedLimits) => layers.map((layer) => layer?.[key]).find((value) => value !== undefined);
  return {
    maxTurns: first('maxTurns') ?? profile.maxTurns,
    timeoutSeconds: first('timeoutSeconds') ?? profile.timeoutSeconds,
    maxTokens: first('maxTokens'),
    maxBudgetUsd: first('maxBudgetUsd'),
    contextTokens: first('contextTokens') ?? settings.contextTokens,
  };
}

/** @param prompt the whole task. The graded profile counts its length and looks for words in it */
export function profileLimits(profile: LimitProfile, agent: string, prompt: string, background: boolean): Limits {
  if (profile === 'graded') {
    return {
      maxTurns: gradedTurns(agent, getComplexity(prompt), prompt.length),
      timeoutSeconds: (GRADED.get(agent) ?? OTHERS)[1],
    };
  }
  const seconds = agent === 'code' ? STANDARD_SECONDS.code : STANDARD_SECONDS.other;
  return {maxTurns: STANDARD_TURNS, timeoutSeconds: background ? STANDARD_SECONDS.background : seconds};
}

export function gradedTurns(agent: string, complexity: Complexity, promptLength: number): number {
  const [base] = GRADED.get(agent) ?? OTHERS;
  const lengthFactor = Math.min(1.5, 1 + (promptLength - 200) / 1000);
  return Math.max(MIN_TURNS, Math.min(MAX_TURNS, Math.round(base * FACTORS[complexity] * lengthFactor)));
}

/**
 * Matches whole words: `get` is not in `widget`. Russian and French words match with their endings; Chinese has no
 * spaces between words. The expression is created on demand because a start does not need it.
 */
const getComplexWords = () =>
  words(
    [
      'analy[sz](?:e|es|ed|ing|is)',
      'audit(?:s|ed|ing)?',
      'refactor(?:s|ed|ing)?',
      '(?:re)?design(?:s|ed|ing)?',
      'analys(?:er|ez|ons)',
      'audit(?:er|ez|e|ons)',
      'refactor(?:er|ez|e|ise[rz]?)',
      'refactorisation',
      'conce(?:voir|vez|ption)',
      'conçois',
      'détaillé(?:e|s|es)?',
      'exhausti(?:f|ve)',
      'en détail',
      '(?:про)?анализ\\p{L}*',
      'аудит\\p{L}*',
      '(?:от)?рефактор\\p{L}*',
      '(?:с|за)?проектир\\p{L}*',
      'подробн\\p{L}*',
      'детальн\\p{L}*',
      'всесторонн\\p{L}*',
    ],
    /分析|审计|重构|设计|全面|详细/,
  );
const getSimpleWords = () =>
  words(
    [
      'find',
      'list',
      'read',
      'get',
      'trouve[rz]?',
      'liste[rz]?',
      'lire',
      'lis',
      'lisez',
      'cherche[rz]?',
      'obten(?:ir|ez)',
      'obtiens',
      'найди(?:те)?',
      'найти',
      'про(?:читай(?:те)?|читать|чти(?:те)?)',
      'перечисли(?:те|ть)?',
      'получи(?:те|ть)?',
    ],
    /查找|读取|列出|获取/,
  );
/** Matches items such as `1. a 2. b 3. c` and `1、a`, but not `1.2.3.4`. */
const NUMBERED_ITEM = /(?:^|\s)\d+(?:[.)](?=\s)|、|．|[.)](?=\p{L}))/gu;
const SIMPLE_LENGTH = 100;

export function getComplexity(prompt: string): Complexity {
  if (getComplexWords().test(prompt) || [...prompt.matchAll(NUMBERED_ITEM)].length >= 3) return 'complex';
  return getSimpleWords().test(prompt) && prompt.length < SIMPLE_LENGTH ? 'simple' : 'moderate';
}

/** @param separate words of languages with spaces between words @param joined words of Chinese */
function words(separate: readonly string[], joined: RegExp): RegExp {
  return new RegExp(`(?<![\\p{L}\\d_])(?:${separate.join('|')})(?![\\p{L}\\d_])|${joined.source}`, 'iu');
}
