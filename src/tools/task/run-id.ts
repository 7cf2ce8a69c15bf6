/** How tools name a run: by an id or its beginning, a path, or a number of the list, which models write as one. */
import {z} from 'zod';

export const runId = z.union([z.string().min(1), z.int().min(1)]);
