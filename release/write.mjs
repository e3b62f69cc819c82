// Writes the version of package.json and the values of owner.json to the files that repeat them.
import { join } from 'node:path';
import { writeDerived } from './sources.mjs';

writeDerived(process.argv[2] ?? join(import.meta.dirname, '..'));
