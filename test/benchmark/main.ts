import { benchDecide } from './decide.js';
import { printMachine } from './report.js';

printMachine({});
benchDecide();
