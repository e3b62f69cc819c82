import { render } from 'preact';
import type { VNode } from 'preact';
import './styles.css';

function App(): VNode {
  return <h1>promscaler</h1>;
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
