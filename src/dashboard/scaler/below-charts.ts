// One file for these parts: small files compress badly, and each is a request.
export { LimitStrip } from './chart/limit-strip.jsx';
export { ConditionsSection } from './conditions-section.jsx';
export { DecisionSection } from './decision-section.jsx';
export { DocumentSection } from './document-section.jsx';
export { TimelineSection } from './timeline-section.jsx';
