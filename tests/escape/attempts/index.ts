/** All attempts, by class. */
import type {AttemptClass} from '../attempt.ts';
import {files} from './files.ts';
import {git} from './git.ts';
import {seenBefore} from './issue.ts';
import {machine} from './machine.ts';
import {options} from './options.ts';
import {reachingOut} from './reaching-out.ts';
import {repositories} from './repositories.ts';
import {tools} from './tools.ts';
import {words} from './words.ts';

export const ALL: readonly AttemptClass[] = [
  ...seenBefore,
  ...words,
  ...options,
  ...files,
  ...git,
  ...repositories,
  ...machine,
  ...reachingOut,
  ...tools,
];
