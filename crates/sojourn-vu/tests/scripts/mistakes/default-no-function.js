// Row: mistakes: the default export is no function
export default 5;
