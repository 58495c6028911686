exports.name = 'the other one';
