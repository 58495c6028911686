// Row: mistakes: options: a statistic that is none
export const options = { summaryTrendStats: ['avg', 'average'] };

export default function () {}
