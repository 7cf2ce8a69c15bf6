/** Declares the export that the build finds in each file of `src/commands/`, and the dependencies of slash commands. */
import type {EffectiveSettings} from '../../config/effective-settings.ts';
import type {MemoryDeps} from '../../config/memory-files.ts';
import type {TrustState} from '../../config/trust.ts';
import type {ThemeName} from '../../core/contract/events.ts';
import type {Command} from '../../core/contract/session-requests.ts';
import type {ReviewDeps} from '../../review/review.ts';
import type {AgentsCommandDeps} from '../agents/show.ts';
import type {ExportDeps} from '../export/stored-session.ts';

/** The type of `slashCommands`, which each file exports. */
export type SlashCommands = (deps: CommandDeps) => readonly Command[];

/** Dependencies of commands besides the requests of the session. */
export interface CommandDeps {
  readonly version: string;
  /** mini-cc's own folder. */
  readonly home: string;
  readonly agents: AgentsCommandDeps;
  readonly examine: Examine;
  readonly memory: MemoryDeps;
  readonly exports: ExportDeps;
  readonly getReviewDeps: () => ReviewDeps;
  /** Lists the commands of mini-cc as `/help` shows them. */
  readonly listCommands: () => readonly Command[];
  /** Lists the commands and skills of files that cannot be typed, because a command of mini-cc has their name. */
  readonly listHiddenFiles: () => readonly {readonly name: string; readonly file: string}[];
  readonly readConfig: () => Promise<ShownSettings>;
  /** Stores the theme in the user's settings. @returns the path of the file */
  readonly saveTheme: (theme: ThemeName) => Promise<string>;
  /** Runs words as `mini-cc plugin` does. `confirm` asks the person. @returns a text @throws UsageError */
  readonly runPlugin: (
    words: readonly string[],
    confirm: (question: string, detail: string) => Promise<boolean | undefined>,
  ) => Promise<string>;
}

export interface ShownSettings extends Omit<EffectiveSettings, 'claims'> {
  readonly trust: {readonly keys: readonly {readonly file: string; readonly key: string; readonly state: TrustState}[]};
}

export interface Finding {
  /** One word that names the examined part. */
  readonly about: string;
  /** `warning` means that mini-cc works with limits. `missing` means that it cannot do what it is asked to do. */
  readonly state: 'ok' | 'warning' | 'missing';
  readonly text: string;
  /** How to fix it: what to type or to set. Every state except `ok` has one. */
  readonly remedy?: string;
}

export type Examine = () => Promise<readonly Finding[]>;
